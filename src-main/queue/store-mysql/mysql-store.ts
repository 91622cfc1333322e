import {
  type Artifact,
  type Clock,
  type Fence,
  type LogLine,
  type NewTask,
  type OperatorAction,
  type QueueReading,
  type SqlDatabase,
  type TaskDetail,
  type TaskFilter
} from '../../kernel/index.ts'
import type {
  ActionResult,
  ClaimedTask,
  ClaimRequest,
  LogEntry,
  ProgressUpdate,
  Recovered,
  Renewal,
  Settlement,
  SettleResult,
  SubmitResult,
  TaskPage,
  TaskStore,
  WorkerReport
} from '../task-store.ts'
import { act } from './act.ts'
import { Claims } from './claim.ts'
import { appendLog, renew, saveProgress } from './lease.ts'
import { listTasks } from './list.ts'
import { getArtifact, getTask, readLog } from './look.ts'
import { checkClaimPlan, readIdStep } from './open-check.ts'
import { readQueue } from './reading.ts'
import { recover } from './recover.ts'
import { settle } from './settle.ts'
import { submit } from './submit.ts'
import { reportWorker } from './workers.ts'

export interface MysqlStoreOptions {
  /** Stays the caller's: `close` of the store does not close it. */
  readonly database: SqlDatabase
  readonly clock: Clock
  /**
   * False for a store that only looks: the claim's plan is then not checked, since a read-only session may not even explain a locking
   * read (1792), nor an account with SELECT alone (1142). Default true.
   */
  readonly claims?: boolean
}

/**
 * The task store on MySQL or MariaDB. Throws AppError `SCHEMA_MISSING` without the tables and `SCHEMA_BROKEN` when the index of the
 * claim cannot serve it; otherwise what the connection throws.
 */
export async function openMysqlStore(options: MysqlStoreOptions): Promise<TaskStore> {
  if (options.claims ?? true) await checkClaimPlan(options.database)
  return new MysqlStore(options, await readIdStep(options.database))
}

class MysqlStore implements TaskStore {
  readonly kind = 'mysql'
  private readonly database: SqlDatabase
  private readonly clock: Clock
  private readonly idStep: number
  private readonly claims: Claims

  constructor({ database, clock }: MysqlStoreOptions, idStep: number) {
    this.database = database
    this.clock = clock
    this.idStep = idStep
    this.claims = new Claims(database, clock)
  }

  async submit(tasks: readonly NewTask[]): Promise<SubmitResult[]> {
    const results = await submit(this.database, tasks, this.idStep)
    this.claims.forget()
    return results
  }

  claim(request: ClaimRequest): Promise<ClaimedTask[]> {
    return this.claims.claim(request)
  }

  renew(leases: readonly Fence[], leaseMs: number): Promise<Renewal> {
    return renew(this.database, leases, leaseMs)
  }

  saveProgress(updates: readonly ProgressUpdate[]): Promise<Fence[]> {
    return saveProgress(this.database, updates)
  }

  appendLog(entries: readonly LogEntry[]): Promise<void> {
    return appendLog(this.database, entries)
  }

  settle(settlements: readonly Settlement[]): Promise<SettleResult[]> {
    return settle(this.database, settlements)
  }

  reportWorker(report: WorkerReport): Promise<void> {
    return reportWorker(this.database, report)
  }

  recover(limit: number): Promise<Recovered[]> {
    return recover(this.database, this.clock, limit)
  }

  async act(taskId: string, action: OperatorAction): Promise<ActionResult> {
    const result = await act(this.database, taskId, action)
    this.claims.forget()
    return result
  }

  get(taskId: string): Promise<TaskDetail | undefined> {
    return getTask(this.database, taskId)
  }

  list(filter: TaskFilter, limit: number, cursor: string | null): Promise<TaskPage> {
    return listTasks(this.database, filter, { limit, cursor })
  }

  log(taskId: string, afterId: string | null): Promise<LogLine[]> {
    return readLog(this.database, taskId, afterId)
  }

  artifact(taskId: string, artifactId: string): Promise<Artifact | undefined> {
    return getArtifact(this.database, taskId, artifactId)
  }

  read(): Promise<QueueReading> {
    return readQueue(this.database, this.clock)
  }

  close(): Promise<void> {
    return Promise.resolve()
  }
}
