import { AsyncLocalStorage } from 'node:async_hooks'
import {
  AppError,
  type Clock,
  type SqlDatabase,
  type SqlFlavour,
  type SqlResult,
  type SqlRunner,
  type SqlValue,
  type StatementOptions,
  type TransactionOptions
} from '../kernel/index.ts'
import { endOnServer } from './end-on-server.ts'
import { openSession, type Session } from './session.ts'
import { SessionPool } from './session-pool.ts'
import type { AccessMode, MysqlLogin } from './settings.ts'
import { guardStatement } from './statement-guard.ts'
import { runTransaction, type TransactionHost } from './transaction.ts'

export interface MysqlOptions {
  readonly accessMode: AccessMode
  /** Connections at most. Give what must never wait (heartbeats) a database of its own with 1. */
  readonly poolSize: number
  /** How long a call waits for a free connection before POOL_EXHAUSTED. */
  readonly acquireTimeoutMs: number
  /** For network, encryption, login and session settings together. */
  readonly connectTimeoutMs: number
  /** The server's limit for one statement (MySQL: for SELECT only); this side gives up a second later. */
  readonly statementTimeoutMs: number
  readonly clock: Clock
}

/**
 * A pool of sessions on one MySQL or MariaDB server. One connection is opened at once, to know the flavour; the others
 * when needed. Throws AppError (CONNECTION_REFUSED, LOGIN_REFUSED, TLS_FAILED, DATABASE_UNKNOWN ...).
 */
export async function openMysql(login: MysqlLogin, options: MysqlOptions): Promise<SqlDatabase> {
  const open = (): Promise<Session> => openSession(login, options)
  const pool = new SessionPool({ ...options, open, size: options.poolSize })
  const first = await pool.acquire()
  const { flavour, serverVersion } = first
  pool.release(first)
  return new MysqlDatabase({ pool, open, options, flavour, serverVersion })
}

interface DatabaseParts {
  readonly pool: SessionPool<Session>
  /** A session outside of the pool, to end another one with. */
  readonly open: () => Promise<Session>
  readonly options: MysqlOptions
  readonly flavour: SqlFlavour
  readonly serverVersion: string
}

class MysqlDatabase implements SqlDatabase, TransactionHost<Session> {
  readonly flavour: SqlFlavour
  readonly serverVersion: string
  readonly accessMode: AccessMode
  readonly clock: Clock
  private readonly pool: SessionPool<Session>
  private readonly open: () => Promise<Session>
  private readonly inTransaction = new AsyncLocalStorage<{ active: boolean }>()
  private readonly ending = new Set<Promise<unknown>>()

  constructor({ pool, open, options, flavour, serverVersion }: DatabaseParts) {
    this.pool = pool
    this.open = open
    this.accessMode = options.accessMode
    this.clock = options.clock
    this.flavour = flavour
    this.serverVersion = serverVersion
  }

  async execute(sql: string, values: readonly SqlValue[] = [], options: StatementOptions = {}): Promise<SqlResult> {
    this.refuseNested()
    const facts = guardStatement(sql, this.accessMode, false)
    const session = await this.acquire(false)
    if (facts.leavesTraces) session.tainted = true
    try {
      await session.commitEach()
      return await session.execute(sql, values, options)
    } finally {
      if (session.isBroken) this.sessionLost(session)
      this.pool.release(session)
    }
  }

  async transaction<T>(work: (runner: SqlRunner) => Promise<T>, options: TransactionOptions = {}): Promise<T> {
    this.refuseNested()
    return runTransaction(
      this,
      async (runner) => {
        const scope = { active: true }
        try {
          return await this.inTransaction.run(scope, () => work(runner))
        } finally {
          scope.active = false
        }
      },
      options
    )
  }

  async close(): Promise<void> {
    await this.pool.close()
    await Promise.allSettled(this.ending)
  }

  /** A free session that need not be told first, if there is one. */
  acquire(forTransaction: boolean): Promise<Session> {
    return this.pool.acquire((session) => session.isForTransactions === forTransaction)
  }

  release(session: Session): void {
    this.pool.release(session)
  }

  sessionLost(session: Session): void {
    this.pool.dropIdle()
    if (session.overdue) this.endInBackground(session)
  }

  endOnServer(session: Session): Promise<boolean> {
    return endOnServer(session, this.open, this.clock)
  }

  /** Nobody waits for it, except `close`. */
  private endInBackground(session: Session): void {
    const ending = this.endOnServer(session)
      .catch(() => undefined)
      .finally(() => this.ending.delete(ending))
    this.ending.add(ending)
  }

  /** A second connection inside of a transaction waits for locks of the first, and a pool of them for itself. */
  private refuseNested(): void {
    if (this.inTransaction.getStore()?.active)
      throw new AppError('BUG', 'bug', 'Inside a transaction only its own runner may be used')
  }
}
