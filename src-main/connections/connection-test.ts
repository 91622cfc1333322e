import { AppError, toAppError, type Clock, type SqlDatabase } from '../kernel/index.ts'
import { judgeRights, judgeTableRights, mayMakeTables, type RightsVerdict } from './grants.ts'
import { openMysql } from './mysql-database.ts'
import { openSession, type Session } from './session.ts'
import { isLoopbackHost, type AccessMode, type MysqlLogin } from './settings.ts'
import type { TestNote } from './test-note.ts'

export type ConnectionTestStepName = 'tcp' | 'tls' | 'login' | 'database' | 'rights' | 'schema'

export interface ConnectionTestStep {
  readonly step: ConnectionTestStepName
  readonly status: 'running' | 'ok' | 'warning' | 'failed' | 'skipped'
  readonly notes: readonly TestNote[]
  readonly problem: AppError | null
}

/** What the schema step has to say; the room that owns the schema answers. */
export type SchemaVerdict = RightsVerdict

export interface ConnectionTestOptions {
  readonly accessMode: AccessMode
  readonly clock: Clock
  readonly signal: AbortSignal
  /** The one table that is read, `schema` null in the connection's database; null: the whole database is used. */
  readonly table: { readonly schema: string | null; readonly name: string } | null
  readonly schemaStatus: (database: SqlDatabase) => Promise<SchemaVerdict>
}

const connectTimeoutMs = 10_000
const statementTimeoutMs = 5_000

const tlsStepCodes: ReadonlySet<string> = new Set(['TLS_FAILED', 'CONNECT_TIMEOUT', 'INVALID_INPUT'])

/**
 * Tries a connection step by step: each is reported as `running`, then with its result; the first failure ends the test.
 * Changes nothing on the server. Throws only the signal's reason; leaves no connection open however it ends.
 */
export async function* testMysqlConnection(
  login: MysqlLogin,
  options: ConnectionTestOptions
): AsyncGenerator<ConnectionTestStep, void, undefined> {
  const test = new ConnectionTest(login, options)
  const steps: [ConnectionTestStepName, () => Promise<Partial<ConnectionTestStep>>][] = [
    ['tcp', () => test.tcp()],
    ['tls', () => test.tls()],
    ['login', () => test.login()],
    ['database', () => test.database()],
    ['rights', () => test.rights()],
    ['schema', () => test.schema()]
  ]
  try {
    for (const [step, run] of steps) {
      options.signal.throwIfAborted()
      yield { step, status: 'running', notes: [], problem: null }
      const result = await untilAborted(resultOf(run), options.signal)
      yield { step, status: 'ok', notes: [], problem: null, ...result }
      if (result.status === 'failed') return
    }
  } finally {
    await test.end()
  }
}

async function resultOf(run: () => Promise<Partial<ConnectionTestStep>>): Promise<Partial<ConnectionTestStep>> {
  try {
    return await run()
  } catch (error) {
    return { status: 'failed', problem: toAppError(error) }
  }
}

async function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  let stop = (): void => undefined
  const aborted = new Promise<never>((_resolve, reject) => {
    stop = () => reject(signal.reason instanceof Error ? signal.reason : new DOMException('aborted', 'AbortError'))
    signal.addEventListener('abort', stop, { once: true })
    if (signal.aborted) stop()
  })
  try {
    return await Promise.race([work, aborted])
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

/** The steps' shared state: one login serves the first three steps, a database of one connection the others. */
class ConnectionTest {
  private readonly settings: MysqlLogin
  private readonly options: ConnectionTestOptions
  private readonly startedAt: number
  private readonly greeted: Promise<number>
  private readonly session: Promise<Session>
  private opened: Promise<SqlDatabase> | null = null

  constructor(settings: MysqlLogin, options: ConnectionTestOptions) {
    this.settings = settings
    this.options = options
    this.startedAt = options.clock.monotonic()
    let onGreeted: (afterMs: number) => void = () => undefined
    const greeted = new Promise<number>((resolve) => (onGreeted = resolve))
    // Without the database, so that a wrong name is not taken for a wrong login.
    this.session = openSession({ ...settings, database: null }, this.sessionOptions(), () =>
      onGreeted(this.elapsedMs())
    )
    this.greeted = Promise.race([greeted, this.session.then(() => this.elapsedMs())])
    this.greeted.catch(() => undefined)
  }

  async tcp(): Promise<Partial<ConnectionTestStep>> {
    try {
      return { notes: [elapsed(await this.greeted)] }
    } catch (error) {
      // The settings of the next step are wrong, so nothing was tried.
      if (toAppError(error).code === 'INVALID_INPUT') return { status: 'skipped' }
      throw error
    }
  }

  async tls(): Promise<Partial<ConnectionTestStep>> {
    if (this.settings.tls === 'disabled') return { status: 'skipped', notes: [{ code: 'notEncrypted' }] }
    const session = await this.session.catch((error: unknown) => {
      const problem = toAppError(error)
      // Any other failure came after the encryption was set up; the login step reports it.
      if (tlsStepCodes.has(problem.code)) throw problem
      return null
    })
    const code = this.settings.tls === 'verify-identity' ? 'certificateChecked' : 'anyCertificate'
    if (!session) return { notes: [{ code }] }
    const { rows } = await session.command("SHOW SESSION STATUS LIKE 'Ssl_version'")
    const version = rows[0]?.['Value']
    if (typeof version !== 'string' || version === '')
      throw new AppError('TLS_FAILED', 'user', 'The link is not encrypted.')
    return { notes: [{ code: 'tlsVersion', values: { version } }, { code }] }
  }

  async login(): Promise<Partial<ConnectionTestStep>> {
    const session = await this.session
    const server: TestNote = { code: 'server', values: { name: serverName(session.flavour, session.serverVersion) } }
    const notes = [server, elapsed(this.elapsedMs())]
    const inClear = this.settings.tls === 'disabled' && !isLoopbackHost(this.settings.host)
    if (!inClear) return { notes }
    return { status: 'warning', notes: [...notes, { code: 'clearLink' }] }
  }

  async database(): Promise<Partial<ConnectionTestStep>> {
    const { accessMode } = this.options
    this.opened = openMysql(this.settings, {
      ...this.sessionOptions(),
      accessMode,
      poolSize: 1,
      acquireTimeoutMs: statementTimeoutMs
    })
    await this.opened
    return { notes: [{ code: 'database', values: { name: this.settings.database } }] }
  }

  async rights(): Promise<Partial<ConnectionTestStep>> {
    const { rows } = await (await this.openDatabase()).execute('SHOW GRANTS')
    const lines = rows.map((row) => String(Object.values(row)[0]))
    const { database } = this.settings
    const { accessMode, table } = this.options
    if (table) return judgeTableRights(lines, { database: table.schema ?? database, table: table.name })
    // Only who may write and may not make tables is asked whether there are any: for all others the answer changes nothing.
    const makesTables =
      accessMode === 'read-write' && !mayMakeTables(lines, database) && (await this.tablesAreMissing())
    return judgeRights(lines, { database, accessMode, makesTables })
  }

  /** What keeps this from being known is told by the step that asks again. */
  private async tablesAreMissing(): Promise<boolean> {
    const verdict = await this.schema().catch(() => null)
    return verdict?.notes?.some(({ code }) => code === 'schemaMissing') ?? false
  }

  async schema(): Promise<Partial<ConnectionTestStep>> {
    return this.options.schemaStatus(await this.openDatabase())
  }

  /** Ends whatever was opened, also what is still being opened. */
  async end(): Promise<void> {
    void this.session.then((session) => session.destroy()).catch(() => undefined)
    const database = this.opened
    if (!database) return
    const closed = database.then((open) => open.close())
    if (this.options.signal.aborted) return void closed.catch(() => undefined)
    await closed.catch(() => undefined)
  }

  private openDatabase(): Promise<SqlDatabase> {
    return this.opened ?? Promise.reject(new AppError('BUG', 'bug', 'The database step comes first'))
  }

  private sessionOptions(): Parameters<typeof openSession>[1] {
    return { accessMode: this.options.accessMode, connectTimeoutMs, statementTimeoutMs, clock: this.options.clock }
  }

  private elapsedMs(): number {
    return Math.round(this.options.clock.monotonic() - this.startedAt)
  }
}

const elapsed = (ms: number): TestNote => ({ code: 'elapsed', values: { ms } })

/** For example "MariaDB 10.11.19" out of "10.11.19-MariaDB-0+deb12u1". */
export function serverName(flavour: 'mysql' | 'mariadb', version: string): string {
  // Old replication clients read a leading 5.5.5- as the version; MariaDB still sends it on some ways.
  const number = /^(?:5\.5\.5-)?(\d+\.\d+\.\d+)/.exec(version)?.[1] ?? version
  return `${flavour === 'mariadb' ? 'MariaDB' : 'MySQL'} ${number}`
}
