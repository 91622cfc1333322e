import { stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { localConnectionId } from '../../contract/index.ts'
import { readStoredConnections, serverName, type MysqlLogin, type StoredConnection } from '../../connections/index.ts'
import { AppError, limitsBy, type QueueReading } from '../../kernel/index.ts'
import { pointsOf } from '../../monitoring/index.ts'
import { openSqliteStore } from '../../queue/store-sqlite/index.ts'
import type { TableProfile } from '../../schema-profiles/index.ts'
import { openForeignQueue } from '../links/open-foreign.ts'
import { profileIn } from '../links/foreign-profile.ts'
import { openMysqlQueue, type DatabasePlaces } from '../links/open-queue.ts'
import { chooseConnection } from './choose-connection.ts'
import { judgeByDefaults } from './judge-by-defaults.ts'
import type { StatusTarget } from './status-arguments.ts'
import { reportOf, type StatusReport } from './status-report.ts'

export interface LookOptions {
  readonly dataDir: string
  readonly places: DatabasePlaces
  /** TASKDECK_PASSWORD; undefined: not given. */
  readonly password: string | undefined
  /** Ours. */
  readonly version: string
  /** Of a table that is not ours; null: our own tables, or what the connection is saved with. */
  readonly profile: TableProfile | null
}

/** What was read, and of what. */
interface Look {
  readonly connection: StatusReport['connection']
  readonly reading: QueueReading
}

/** The data folder's name of the embedded queue. */
const localName = 'Local queue'

/**
 * One reading over a connection of its own: with the rights to read only, on tables that must be there already. Throws what is in the way,
 * each with a code; among them NOT_FOUND and INVALID_INPUT for the connection's name, LOGIN_REFUSED without a password.
 */
export async function lookByItself(target: StatusTarget, options: LookOptions): Promise<StatusReport> {
  const { connection, reading } = await look(target, options)
  const points = pointsOf(reading)
  const looked = { ...connection, reading, points, ageMs: 0, troubles: judgeByDefaults(points) }
  const judged = { ...looked, pending: [], limitsOf: limitsBy(undefined), judgedBy: 'defaults' } as const
  return reportOf(judged, { source: 'database', taskdeck: options.version })
}

function look(target: StatusTarget, options: LookOptions): Promise<Look> {
  if (target.kind === 'mysql') {
    const { host, port, database } = target.login
    const name = withTable(`${database} on ${host}:${port}`, options.profile)
    return lookAtServer(target.login, options, { name, environment: null })
  }
  if (target.kind === 'sqlite')
    return lookAtFile(target.file, options, { name: basename(target.file), environment: null })
  return lookAtConnection(target.name, options)
}

async function lookAtConnection(name: string | null, options: LookOptions): Promise<Look> {
  const stored = await readStoredConnections(options.dataDir)
  const local = { id: localConnectionId, name: localName, stored: null }
  const all = [local, ...stored.map((one) => ({ id: one.id, name: one.name, stored: one }))]
  const chosen = chooseConnection<(typeof all)[number] | typeof local>(all, name)
  if (!chosen.stored && options.profile)
    throw new AppError('INVALID_INPUT', 'user', '--profile is for tables in MySQL or MariaDB, not for the local queue.')
  if (!chosen.stored)
    return lookAtFile(join(options.dataDir, 'queue.sqlite'), options, { name: localName, environment: 'local' })
  const { stored: connection } = chosen
  const profile = options.profile ?? (connection.profile === null ? null : profileIn(connection.profile))
  const login = { ...connection.mysql, password: passwordFor(connection, options) }
  const { environment } = connection
  return lookAtServer(
    login,
    { ...options, profile },
    { name: withTable(connection.name, options.profile), environment }
  )
}

/** A connection's own table is what its name stands for; the one of --profile is not. */
const withTable = (name: string, given: TableProfile | null): string => (given ? `${name}, table ${given.table}` : name)

function passwordFor({ name }: StoredConnection, { password }: LookOptions): string {
  if (password !== undefined) return password
  const text = `No Taskdeck runs here, and only it has the password of "${name}": set TASKDECK_PASSWORD, or start the app.`
  throw new AppError('LOGIN_REFUSED', 'user', text)
}

type About = Pick<StatusReport['connection'], 'name' | 'environment'>

async function lookAtServer(login: MysqlLogin, options: LookOptions, about: About): Promise<Look> {
  const { profile, places } = options
  return profile ? lookAtForeignTable(login, { profile, places }, about) : lookAtOurTables(login, places, about)
}

async function lookAtForeignTable(
  login: MysqlLogin,
  { profile, places }: { profile: TableProfile; places: DatabasePlaces },
  { name, environment }: About
): Promise<Look> {
  const { queue, database } = await openForeignQueue(login, profile, places.clock)
  try {
    const reading = await queue.read()
    const server = serverName(database.flavour, database.serverVersion)
    return { connection: { name, environment, server }, reading }
  } finally {
    await queue.close()
  }
}

async function lookAtOurTables(login: MysqlLogin, places: DatabasePlaces, { name, environment }: About): Promise<Look> {
  const { opening, database } = await openMysqlQueue(login, 'read-only', places)
  if (opening.status !== 'ready') throw schemaInTheWay(opening.status === 'schema' ? opening.schema : 'missing')
  try {
    const reading = await opening.queue.read()
    return { connection: { name, environment, server: serverName(database.flavour, database.serverVersion) }, reading }
  } finally {
    await opening.queue.close()
  }
}

async function lookAtFile(file: string, { places }: LookOptions, { name, environment }: About): Promise<Look> {
  await requireFile(file)
  const migrationsDir = join(places.migrationsDir, 'sqlite')
  const store = await openSqliteStore({ file, clock: places.clock, migrationsDir, inspect: true })
  try {
    return { connection: { name, environment, server: 'SQLite' }, reading: await store.read() }
  } finally {
    await store.close()
  }
}

/** SQLite would wait for ever for somebody to write into a pipe. */
async function requireFile(file: string): Promise<void> {
  const found = await stat(file).catch(() => undefined)
  if (found?.isFile()) return
  const what = found ? 'is not a regular file' : 'is not there'
  throw new AppError('FILE_UNAVAILABLE', 'user', `${file} ${what}: is this the right folder (--data) or path?`)
}

function schemaInTheWay(schema: 'missing' | 'outdated' | 'newer'): AppError {
  if (schema === 'missing')
    return new AppError('SCHEMA_MISSING', 'user', 'There are no Taskdeck tables in this database.')
  if (schema === 'outdated')
    return new AppError(
      'SCHEMA_OUTDATED',
      'user',
      'The tables are of an older Taskdeck: use that one, or let the app update them.'
    )
  return new AppError('SCHEMA_NEWER', 'user', 'The tables are of a newer Taskdeck: use that version.')
}
