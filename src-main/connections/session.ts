import type { Connection } from 'mysql2'
import {
  AppError,
  withDeadline,
  type Clock,
  type SqlFlavour,
  type SqlResult,
  type SqlRow,
  type SqlValue,
  type StatementOptions
} from '../kernel/index.ts'
import { bindValues } from './bind-values.ts'
import { dial, type DriverConnection, type DriverLogin } from './driver.ts'
import { deniedDatabase } from './grants.ts'
import { untilGreeted } from './greeting.ts'
import { requirePlainNames, type AccessMode } from './settings.ts'
import { breaksConnection, classifySqlError } from './sql-error.ts'

export interface SessionOptions {
  readonly accessMode: AccessMode
  readonly connectTimeoutMs: number
  /** The server's limit for a statement. This side gives up `answerGraceMs` later. */
  readonly statementTimeoutMs: number
  readonly clock: Clock
}

/** On top of the server's own limit, so that its answer (the better error) comes first. */
const answerGraceMs = 1_000

/** The server ends a session of ours that is silent for so long, with its locks, when a dead link hides our end. */
const serverIdleSeconds = 120

/** One logged-in connection with our session settings. Not shared: its user has it until it is released. */
export class Session {
  /** The server's id of this connection, for KILL. */
  readonly id: number
  readonly flavour: SqlFlavour
  /** As the server says it, for example "10.11.19-MariaDB-0+deb12u1". */
  readonly serverVersion: string
  /** Which server it is on, behind whatever name: its host name and port. */
  readonly server: string
  /** By the clock's `monotonic`. */
  readonly openedAt: number
  /** A statement changed session state that would meet the next user: the session must not be used again. */
  tainted = false
  /** Called once, when the session can no longer be used. */
  onBroken: () => void = () => undefined
  /** It was given up without an answer: a statement and its locks may live on there. */
  overdue = false
  private broken = false
  /** Else a transaction begins with the next statement: without a round trip of its own, as it costs the claim a quarter of its time. */
  private commitsEach = true
  /** Statements without an answer. The driver forgets them when the connection is ended from this side. */
  private readonly unanswered = new Set<(error: AppError) => void>()
  private readonly driver: DriverConnection
  private readonly options: SessionOptions

  constructor(driver: DriverConnection, facts: ServerFacts, options: SessionOptions) {
    this.driver = driver
    this.options = options
    this.id = facts.id
    this.server = facts.server
    this.flavour = facts.flavour
    this.serverVersion = facts.version
    this.openedAt = options.clock.monotonic()
    driver.connection.on('error', () => this.destroy())
    driver.connection.on('end', () => this.destroy())
  }

  get isBroken(): boolean {
    return this.broken
  }

  /** Prepared protocol. Throws AppError; when the connection is of no further use it is destroyed at once. */
  execute(sql: string, values: readonly SqlValue[], { signal }: StatementOptions = {}): Promise<SqlResult> {
    const bound = bindValues(values)
    const send = (done: DriverCallback): void => void this.driver.connection.execute(sql, bound, done)
    return this.answer(this.options.statementTimeoutMs, send, signal)
  }

  get isForTransactions(): boolean {
    return !this.commitsEach
  }

  /** The statements that follow are one transaction, up to COMMIT or ROLLBACK; read-only when the session is. */
  async begin(): Promise<void> {
    if (!this.commitsEach) return
    await this.command('SET SESSION autocommit=0')
    this.commitsEach = false
  }

  /** Each statement that follows commits by itself. Not within a transaction, which this would commit. */
  async commitEach(): Promise<void> {
    if (this.commitsEach) return
    await this.command('SET SESSION autocommit=1')
    this.commitsEach = true
  }

  /** A fixed text of ours without values, such as COMMIT, that servers do not all accept prepared. */
  command(sql: string, timeoutMs = this.options.statementTimeoutMs): Promise<SqlResult> {
    return this.answer(timeoutMs, (done) => this.driver.connection.query(sql, done))
  }

  /** Ends the connection without waiting for anyone. */
  destroy(): void {
    if (this.broken) return
    this.broken = true
    destroyDriver(this.driver)
    for (const fail of this.unanswered) fail(connectionLost())
    this.onBroken()
  }

  /** Says goodbye to the server, for at most `graceMs`. */
  async end(graceMs: number): Promise<void> {
    if (this.broken) return
    this.broken = true
    const gone = new Promise<void>((resolve) => this.driver.connection.end(() => resolve()))
    await withDeadline(this.options.clock, graceMs, gone, () => new Error('late')).catch(() => undefined)
    destroyDriver(this.driver)
    this.onBroken()
  }

  private async answer(
    timeoutMs: number,
    send: (done: DriverCallback) => void,
    signal?: AbortSignal
  ): Promise<SqlResult> {
    if (this.broken) throw connectionLost()
    if (signal?.aborted) throw givenUp()
    let lost: (error: AppError) => void = () => undefined
    const work = new Promise<unknown>((resolve, reject) => {
      lost = reject
      this.unanswered.add(lost)
      send((error, result) => (error ? reject(error) : resolve(result)))
    })
    const late = (): AppError => new StatementOverdue(timeoutMs)
    const onAbort = (): void => lost(new StatementOverdue(timeoutMs))
    signal?.addEventListener('abort', onAbort, { once: true })
    try {
      return toResult(await withDeadline(this.options.clock, timeoutMs + answerGraceMs, work, late))
    } catch (caught) {
      const error = classifySqlError(caught, this.flavour)
      if (error instanceof StatementOverdue) this.overdue = true
      if (this.overdue || breaksConnection(error)) this.destroy()
      throw error
    } finally {
      this.unanswered.delete(lost)
      signal?.removeEventListener('abort', onAbort)
    }
  }
}

type DriverCallback = (error: Error | null, result: unknown) => void

/** No answer in time, or nobody waits for it any more: the link may be dead, and the statement may still run on the server. */
class StatementOverdue extends AppError {
  constructor(timeoutMs: number) {
    super('STATEMENT_TIMEOUT', 'operational', 'The server did not answer in time; the connection was given up.', {
      details: { timeoutMs, outcome: 'unknown' }
    })
  }
}

/** Nothing was sent, so the session stays good. */
const givenUp = (): AppError => new AppError('STATEMENT_TIMEOUT', 'operational', 'The statement was given up.')

const connectionLost = (): AppError =>
  new AppError('CONNECTION_LOST', 'operational', 'The connection to the server was lost; it is opened again by itself.')

/**
 * Logs in and prepares the session, all within `connectTimeoutMs`. `onGreeted` is told when a MySQL server has answered, before the login.
 * Throws AppError (CONNECTION_REFUSED, NOT_MYSQL, TLS_FAILED, LOGIN_REFUSED, NO_RIGHTS ...); leaves nothing open.
 */
export async function openSession(
  login: DriverLogin,
  options: SessionOptions,
  onGreeted?: () => void
): Promise<Session> {
  requirePlainNames(login)
  const { clock, connectTimeoutMs } = options
  const dialled = dial(login)
  const { socket } = dialled
  let driver: DriverConnection | undefined
  const logIn = async (): Promise<Session> => {
    await untilGreeted(socket)
    onGreeted?.()
    driver = dialled.join()
    return prepareSession(driver, options)
  }
  try {
    return await withDeadline(clock, connectTimeoutMs, logIn(), () =>
      socket.connecting || driver ? connectTimedOut(connectTimeoutMs) : notGreeted(connectTimeoutMs)
    )
  } catch (error) {
    driver?.connection.destroy()
    socket.destroy()
    throw deniedDatabase(classifySqlError(error), login, options.accessMode)
  }
}

const connectTimedOut = (timeoutMs: number): AppError =>
  new AppError('CONNECT_TIMEOUT', 'operational', 'The server did not answer in time: check host, port and firewall.', {
    details: { timeoutMs }
  })

const notGreeted = (timeoutMs: number): AppError =>
  new AppError(
    'CONNECT_TIMEOUT',
    'operational',
    `Something accepts connections at this address and says nothing for ${timeoutMs / 1000} s, as MySQL and MariaDB do at once: check the port; if it is theirs, the server hangs.`,
    { details: { timeoutMs } }
  )

interface ServerFacts {
  readonly id: number
  readonly server: string
  readonly version: string
  readonly flavour: SqlFlavour
}

async function prepareSession(driver: DriverConnection, options: SessionOptions): Promise<Session> {
  const { connection } = driver
  // Stays for the connection's life: an error event without a listener would end the process.
  connection.on('error', () => undefined)
  await new Promise<void>((resolve, reject) => connection.connect((error) => (error ? reject(error) : resolve())))
  const facts = await serverFacts(connection)
  for (const statement of sessionSettings(facts.flavour, options)) await plainQuery(connection, statement)
  return new Session(driver, facts, options)
}

async function serverFacts(connection: Connection): Promise<ServerFacts> {
  const sql = "SELECT VERSION() AS version, CONNECTION_ID() AS id, CONCAT(@@hostname, ':', @@port) AS server"
  const [row] = (await plainQuery(connection, sql)) as SqlRow[]
  const version = text(row?.['version'])
  return {
    id: Number(row?.['id']),
    server: text(row?.['server']),
    version,
    flavour: /mariadb/i.test(version) ? 'mariadb' : 'mysql'
  }
}

const text = (value: SqlValue | undefined): string => (typeof value === 'string' ? value : '')

/**
 * Nothing of the server's configuration decides what a statement of ours means or how long it may wait. Lock waits are
 * shorter than the statement's limit, so that a lock timeout is reported as one.
 */
export function sessionSettings(flavour: SqlFlavour, options: SessionOptions): string[] {
  const { statementTimeoutMs, accessMode } = options
  const lockWaitSeconds = Math.max(1, Math.min(5, Math.floor(statementTimeoutMs / 2_000)))
  const limit =
    flavour === 'mariadb'
      ? `max_statement_time=${statementTimeoutMs / 1000}`
      : `max_execution_time=${statementTimeoutMs}`
  return [
    `SET SESSION autocommit=1, completion_type=0, time_zone='+00:00', ` +
      // Strict; without ANSI_QUOTES ("x" is a string) and NO_BACKSLASH_ESCAPES.
      `sql_mode='STRICT_ALL_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION', ` +
      `innodb_lock_wait_timeout=${lockWaitSeconds}, lock_wait_timeout=${lockWaitSeconds}, ` +
      // Limits for people at consoles, who forget a WHERE or a LIMIT.
      `sql_safe_updates=0, sql_select_limit=18446744073709551615, sql_big_selects=1, ` +
      `wait_timeout=${serverIdleSeconds}, ${limit}`,
    `SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED, ${accessMode === 'read-only' ? 'READ ONLY' : 'READ WRITE'}`
  ]
}

const plainQuery = (connection: Connection, sql: string): Promise<unknown> =>
  new Promise((resolve, reject) => connection.query(sql, (error, result) => (error ? reject(error) : resolve(result))))

function destroyDriver({ connection, socket }: DriverConnection): void {
  connection.destroy()
  socket.destroy()
}

function toResult(result: unknown): SqlResult {
  if (Array.isArray(result)) return { rows: result as SqlRow[], affectedRows: 0, insertId: '0' }
  const header = result as { affectedRows?: number; insertId?: number | string }
  return { rows: [], affectedRows: header.affectedRows ?? 0, insertId: String(header.insertId ?? 0) }
}
