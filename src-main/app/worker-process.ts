import { readFileSync } from 'node:fs'
import { constants } from 'node:os'
import { join } from 'node:path'
import { AppError, systemClock, textMask, toAppError, withDeadline, type LogLevel } from '../kernel/index.ts'
import { openMeter, type Meter } from '../queue/metrics/index.ts'
import { Backoff, createWorker, newWorkerId, type Worker } from '../queue/pool/index.ts'
import { sqliteSchema } from '../queue/store-sqlite/index.ts'
import type { SchemaInstaller, TaskStore } from '../queue/task-store.ts'
import { defaultArtifactDirectory } from './default-data-directory.ts'
import { mysqlInstaller, openDatabase, type DatabasePlaces } from './links/open-queue.ts'
import { requireSchema } from './links/ready-schema.ts'
import { openWorkerQueue, type WorkerQueue } from './worker/worker-queue.ts'
import { printable } from './printable.ts'
import { parseWorkerArguments, queueName, workerUsage, type WorkerArguments } from './worker-arguments.ts'

/*
 * The worker without a shell: `npm run worker -- ...`. Exits with 0 after a signal or a request to stop, 2 when the user must change something
 * first, 1 on a bug. Events go to stderr, one a line.
 */

type Connection = NonNullable<WorkerArguments['connection']>

const clock = systemClock
const stopping = new AbortController()
const projectRoot = join(import.meta.dirname, '../..')
const places: DatabasePlaces = { clock, migrationsDir: join(projectRoot, 'migrations') }
let secrets: string[] = []
let asJson = false

for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
  process.on(signal, () => {
    if (stopping.signal.aborted) process.exit(128 + constants.signals[signal])
    say('info', `${signal}: stopping; a second one ends at once`)
    stopping.abort()
  })
}
for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
  process.on(event, (error: unknown) => {
    say('error', `bug: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`)
    process.exit(1)
  })
}

async function main(): Promise<number> {
  const given = parseWorkerArguments(process.argv.slice(2), process.env, process.cwd())
  asJson = given.json
  if (given.help || !given.connection) {
    process.stdout.write(workerUsage)
    return 0
  }
  if (given.connection.kind === 'mysql') hide(given.connection.login.password)
  const queue = await openPatiently(given.connection, given.migrate)
  if (!queue) return 0
  const meter = given.metricsPort === null ? undefined : openMeter({ store: queue.store, clock })
  const worker = workerOf(given, queue, { meter, connection: given.connection })
  const metrics = await meter?.serve({ worker, port: given.metricsPort ?? 0, onProblem: (line) => say('error', line) })
  // A signal while it starts: it stops before it claims anything.
  void untilStopped().then(() => worker.stop())
  await worker.start()
  say('info', `queue ${queueName(given.connection)}; task types ${typesOf(worker)}`)
  if (metrics) say('info', `metrics at ${metrics.url}`)
  // After a signal, or because another process asked for it.
  await worker.finished
  await worker.stop()
  await metrics?.stop()
  const late = (): Error => new AppError('CONNECTION_LOST', 'operational', 'The database did not let go in time.')
  await withDeadline(clock, 2_000, queue.close(), late).catch((error: unknown) =>
    say('warn', toAppError(error).message)
  )
  return 0
}

function workerOf(
  given: WorkerArguments,
  queue: WorkerQueue,
  { meter, connection }: { readonly meter: Meter | undefined; readonly connection: Connection }
): Worker {
  const { version } = JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8')) as { version: string }
  const counted = (store: TaskStore): TaskStore => meter?.counted(store) ?? store
  return createWorker({
    store: counted(queue.store),
    heartbeatStore: counted(queue.heartbeatStore),
    rowSink: queue.rowSink,
    clock,
    workerId: given.id ?? newWorkerId(),
    version,
    slots: given.concurrency,
    handlers: { builtIn: true, dir: given.handlersDir },
    artifactDir: given.artifactDir ?? defaultArtifactDirectory(connection),
    leaseMs: given.leaseMs,
    pollMs: given.pollMs,
    recoverMs: given.recoverMs,
    graceMs: given.graceMs,
    maskText: textMask(given.sensitiveKeys),
    onLog: ({ level, message, taskId }) => say(level, message, taskId)
  })
}

const typesOf = (worker: Worker): string =>
  worker
    .status()
    .handlers.handlers.map(({ type }) => type)
    .sort()
    .join(', ')

/** Keeps trying while the database is away; undefined when it was stopped meanwhile. Throws what only the user can mend. */
async function openPatiently(connection: Connection, migrate: boolean): Promise<WorkerQueue | undefined> {
  const backoff = new Backoff(clock, { firstMs: 500, capMs: 10_000 })
  let said = ''
  while (!stopping.signal.aborted) {
    try {
      return await openOnce(connection, migrate)
    } catch (error) {
      const problem = toAppError(error)
      if (needsUser(problem)) throw problem
      if (problem.code !== said) say('warn', `waiting for the database: ${problem.code}: ${problem.message}`)
      said = problem.code
      await clock.sleep(backoff.next(), stopping.signal).catch(() => undefined)
    }
  }
  return undefined
}

async function openOnce(connection: Connection, migrate: boolean): Promise<WorkerQueue> {
  if (connection.kind === 'sqlite') {
    const { file } = connection
    await prepareSchema(sqliteSchema({ file, clock, migrationsDir: join(places.migrationsDir, 'sqlite') }), migrate)
    return openWorkerQueue(null, file, places)
  }
  const database = await openDatabase(connection.login, 'read-write', { clock, use: 'migration' })
  try {
    await prepareSchema(mysqlInstaller(database, places), migrate)
  } finally {
    await database.close()
  }
  return openWorkerQueue(connection.login, '', places)
}

async function prepareSchema(installer: SchemaInstaller, migrate: boolean): Promise<void> {
  const advice = 'start once with --migrate, or let the app make them'
  if (await requireSchema(installer, { migrate, advice })) say('info', 'the tables are up to date now')
}

const needsUser = ({ kind, code }: AppError): boolean =>
  kind !== 'operational' || code.startsWith('SCHEMA_') || code === 'FILE_UNAVAILABLE'

const untilStopped = (): Promise<void> =>
  new Promise((resolve) => {
    if (stopping.signal.aborted) return resolve()
    stopping.signal.addEventListener('abort', () => resolve(), { once: true })
  })

function hide(password: string): void {
  secrets = [password, encodeURIComponent(password)].filter((secret) => secret.length > 2)
}

function say(level: LogLevel, message: string, taskId: string | null = null): void {
  const clean = secrets.reduce((text, secret) => text.replaceAll(secret, '***'), message)
  const at = new Date(clock.now()).toISOString()
  const line = asJson
    ? JSON.stringify({ at, level, taskId, message: clean })
    : `${at} ${level} ${taskId === null ? '' : `[task ${taskId}] `}${printable(clean)}`
  process.stderr.write(`${line}\n`)
}

main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    const problem = toAppError(error)
    say(
      'error',
      problem.kind === 'bug' ? `bug: ${problem.stack ?? problem.message}` : `${problem.code}: ${problem.message}`
    )
    process.exit(problem.kind === 'bug' ? 1 : 2)
  }
)
