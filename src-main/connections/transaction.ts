import {
  AppError,
  type Clock,
  type SqlResult,
  type SqlRunner,
  type SqlValue,
  type TransactionOptions
} from '../kernel/index.ts'
import type { AccessMode } from './settings.ts'
import { isTransient } from './sql-error.ts'
import { guardStatement } from './statement-guard.ts'

/** What a transaction needs of its session. */
export interface TransactionSession {
  readonly isBroken: boolean
  tainted: boolean
  execute(sql: string, values: readonly SqlValue[]): Promise<SqlResult>
  /** The statements that follow are one transaction, up to COMMIT or ROLLBACK. */
  begin(): Promise<void>
  /** Each statement that follows commits by itself. */
  commitEach(): Promise<void>
  command(sql: string): Promise<SqlResult>
  destroy(): void
}

/** What a transaction needs of its database. */
export interface TransactionHost<S extends TransactionSession> {
  readonly accessMode: AccessMode
  readonly clock: Clock
  acquire(forTransaction: boolean): Promise<S>
  release(session: S): void
  /** The session broke or its server takes no changes: no other idle one is trusted either. */
  sessionLost(session: S): void
  /** Ends the connection on the server. Resolves to true once the server no longer has it, so that its last commit is decided. */
  endOnServer(session: S): Promise<boolean>
}

const defaultRetries = 5
const backoffBaseMs = 10
const backoffCapMs = 500

/** How long the outcome of a commit is looked for while the server does not answer. */
const settleDeadlineMs = 20_000
const settlePauseMs = 250

/** See SqlDatabase.transaction. */
export async function runTransaction<T, S extends TransactionSession>(
  host: TransactionHost<S>,
  work: (runner: SqlRunner) => Promise<T>,
  options: TransactionOptions
): Promise<T> {
  const retries = options.retries ?? defaultRetries
  for (let attempt = 0; ; attempt += 1) {
    const outcome = await attemptOnce(host, work)
    if (outcome.status === 'committed') return outcome.result
    if (outcome.status === 'unknown') {
      const settled = await settleCommit(host, outcome, options)
      if (settled !== undefined) return settled as T
    } else if (!isRetried(outcome.error) || attempt >= retries) throw outcome.error
    if (attempt >= retries) throw outcome.error
    await host.clock.sleep(backoffMs(attempt, host.clock))
  }
}

type Outcome<T, S> =
  | { readonly status: 'committed'; readonly result: T }
  | { readonly status: 'rolled-back'; readonly error: AppError }
  | { readonly status: 'unknown'; readonly error: AppError; readonly session: S }

async function attemptOnce<T, S extends TransactionSession>(
  host: TransactionHost<S>,
  work: (runner: SqlRunner) => Promise<T>
): Promise<Outcome<T, S>> {
  const session = await host.acquire(true)
  try {
    return await onSession(host, session, work)
  } finally {
    if (session.isBroken) host.sessionLost(session)
    host.release(session)
  }
}

async function onSession<T, S extends TransactionSession>(
  host: TransactionHost<S>,
  session: S,
  work: (runner: SqlRunner) => Promise<T>
): Promise<Outcome<T, S>> {
  const runner = new TransactionRunner(session, host.accessMode)
  let result: T
  try {
    await session.begin()
    result = await work(runner)
    await runner.finish()
  } catch (caught) {
    await runner.finish().catch(() => undefined)
    await rollBack(session)
    const error = runner.doom ?? caught
    // What the work threw for its own reasons passes unchanged.
    if (!(error instanceof AppError)) throw error
    return { status: 'rolled-back', error }
  }
  return commit(host, session, result)
}

async function commit<T, S extends TransactionSession>(
  host: TransactionHost<S>,
  session: S,
  result: T
): Promise<Outcome<T, S>> {
  try {
    await session.command('COMMIT')
    return { status: 'committed', result }
  } catch (caught) {
    const error = caught as AppError
    // Nothing was written, so nothing can be lost.
    if (host.accessMode === 'read-only') {
      await rollBack(session)
      return { status: 'committed', result }
    }
    if (isRetried(error)) {
      await rollBack(session)
      return { status: 'rolled-back', error }
    }
    if (error.code === 'SERVER_READ_ONLY') return { status: 'rolled-back', error }
    session.destroy()
    return { status: 'unknown', error, session }
  }
}

/** A session that cannot roll back is ended, which does the same on the server. */
async function rollBack(session: TransactionSession): Promise<void> {
  if (session.isBroken) return
  try {
    await session.command('ROLLBACK')
  } catch {
    session.destroy()
  }
}

/**
 * The transaction's result when it did commit; undefined when it surely did not. First the old connection has to be gone
 * from the server: a commit that is still under way would otherwise land after the question.
 */
async function settleCommit<S extends TransactionSession>(
  host: TransactionHost<S>,
  lost: { readonly session: S; readonly error: AppError },
  { readBack }: TransactionOptions
): Promise<unknown> {
  if (!readBack) throw commitUnknown(lost.error)
  const deadline = host.clock.monotonic() + settleDeadlineMs
  for (;;) {
    try {
      if (await host.endOnServer(lost.session)) return await askBack(host, readBack)
    } catch (caught) {
      if (!(caught instanceof AppError) || !isTransient(caught)) throw caught
    }
    if (host.clock.monotonic() + settlePauseMs > deadline) throw commitUnknown(lost.error)
    await host.clock.sleep(settlePauseMs)
  }
}

async function askBack<S extends TransactionSession>(
  host: TransactionHost<S>,
  readBack: (runner: SqlRunner) => Promise<unknown>
): Promise<unknown> {
  const session = await host.acquire(false)
  const runner = new TransactionRunner(session, host.accessMode)
  try {
    await session.commitEach()
    return await readBack(runner)
  } finally {
    await runner.finish().catch(() => undefined)
    if (session.isBroken) host.sessionLost(session)
    host.release(session)
  }
}

/** Whole transactions only: after 1213 everything is undone already, after 1205 the statement alone. */
const isRetried = (error: AppError): boolean => error.code === 'DEADLOCK' || error.code === 'LOCK_TIMEOUT'

/** Full jitter: those that met once shall not meet again. */
const backoffMs = (attempt: number, clock: Clock): number =>
  Math.ceil(clock.random() * Math.min(backoffCapMs, backoffBaseMs * 2 ** attempt))

const commitUnknown = (cause: AppError): AppError =>
  new AppError(
    'COMMIT_UNKNOWN',
    'operational',
    'The connection was lost during the commit: check whether the change was made before repeating it.',
    {
      cause
    }
  )

/**
 * One statement at a time, and none after one that ended the transaction on the server: sent then, it would run outside
 * of any transaction.
 */
class TransactionRunner implements SqlRunner {
  /** The error after which only a rollback is left, even when the work has caught it. */
  doom: AppError | null = null
  private readonly session: TransactionSession
  private readonly accessMode: AccessMode
  private tail: Promise<unknown> = Promise.resolve()
  private finished = false

  constructor(session: TransactionSession, accessMode: AccessMode) {
    this.session = session
    this.accessMode = accessMode
  }

  async execute(sql: string, values: readonly SqlValue[] = []): Promise<SqlResult> {
    if (this.finished) throw new AppError('BUG', 'bug', 'A statement came after its transaction had ended')
    if (guardStatement(sql, this.accessMode, true).leavesTraces) this.session.tainted = true
    const answer = this.tail.then(() => this.send(sql, values))
    this.tail = answer.catch(() => undefined)
    return answer
  }

  /** Waits for statements under way and refuses later ones. Throws what doomed the transaction. */
  async finish(): Promise<void> {
    this.finished = true
    await this.tail
    if (this.doom) throw this.doom
  }

  private async send(sql: string, values: readonly SqlValue[]): Promise<SqlResult> {
    if (this.doom) throw this.doom
    try {
      return await this.session.execute(sql, values)
    } catch (error) {
      if (error instanceof AppError && (isRetried(error) || this.session.isBroken)) this.doom = error
      throw error
    }
  }
}
