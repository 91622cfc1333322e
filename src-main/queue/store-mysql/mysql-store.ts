import {
  type Artifact,
  type Clock,
  type DeadLetterFilter,
  type Fence,
  type LogLine,
  type NewTask,
  type OperatorAction,
  type Policy,
  type PolicyInput,
  type PolicyScope,
  type ProbeGuard,
  type QueueReading,
  type Schedule,
  type ScheduleInput,
  type SqlDatabase,
  type TaskDetail,
  type TaskFilter,
  type WorkerRequest
} from '../../kernel/index.ts'
import { isReleasing } from '../dependents.ts'
import type { RecentAttempts, RecentWindow } from '../recent-attempts.ts'
import type {
  ActionResult,
  ClaimedTask,
  ClaimRequest,
  DeadLetterPage,
  DeadLetterRange,
  DeadLetterStep,
  LogEntry,
  ProgressUpdate,
  Recovered,
  Renewal,
  ScheduleStore,
  Settlement,
  SettleResult,
  SubmitResult,
  TaskPage,
  TaskStore,
  WorkerReport
} from '../task-store.ts'
import { act } from './act.ts'
import { recentAttempts } from './attempts-window.ts'
import { Claims } from './claim.ts'
import {
  countDeadLetters,
  listDeadLetters,
  newestDeadLetter,
  resolveDeadLetter,
  resolveStep
} from './dead-letter-store.ts'
import { appendLog, renew, saveProgress } from './lease.ts'
import { listTasks } from './list.ts'
import { getArtifact, getTask, readLog } from './look.ts'
import { checkClaimPlan } from './open-check.ts'
import { plainProbes } from './plain-probes.ts'
import { readPolicies, removePolicy, setPolicy } from './policies.ts'
import { readQueue } from './reading.ts'
import { recover } from './recover.ts'
import { listAllSchedules, putSchedule, removeSchedule, runSchedules } from './schedules.ts'
import { QuickSettlement } from './quick-settlement.ts'
import { settle } from './settle.ts'
import { submit } from './submit.ts'
import { hintPorts, reportWorker, requestWorker } from './workers.ts'

export interface MysqlStoreOptions {
  /** Stays the caller's: `close` of the store does not close it. */
  readonly database: SqlDatabase
  readonly clock: Clock
  /**
   * False for a store that only looks: the claim's plan is then not checked, since a read-only session may not even explain a locking
   * read (1792), nor an account with SELECT alone (1142). Default true.
   */
  readonly claims?: boolean
  /** Runs the probes of `read`; left out, they run on `database` as they are. */
  readonly probes?: ProbeGuard
}

/**
 * The task store on MySQL or MariaDB. Throws AppError `SCHEMA_MISSING` without the tables and `SCHEMA_BROKEN` when the index of the
 * claim cannot serve it; otherwise what the connection throws.
 */
export async function openMysqlStore(options: MysqlStoreOptions): Promise<TaskStore> {
  if (options.claims ?? true) await checkClaimPlan(options.database)
  return new MysqlStore(options)
}

class MysqlStore implements TaskStore {
  readonly kind = 'mysql'
  private readonly database: SqlDatabase
  private readonly clock: Clock
  private readonly probes: ProbeGuard
  private readonly claims: Claims
  private readonly quick = new QuickSettlement()

  constructor({ database, clock, probes = plainProbes(database, clock) }: MysqlStoreOptions) {
    this.database = database
    this.clock = clock
    this.probes = probes
    this.claims = new Claims(database, clock)
  }

  async submit(tasks: readonly NewTask[]): Promise<SubmitResult[]> {
    const results = await submit(this.database, tasks)
    this.claims.forget()
    return results
  }

  claim(request: ClaimRequest): Promise<ClaimedTask[]> {
    return this.claims.claim(request)
  }

  renew(leases: readonly Fence[]): Promise<Renewal> {
    return renew(this.database, leases)
  }

  saveProgress(updates: readonly ProgressUpdate[]): Promise<Fence[]> {
    return saveProgress(this.database, updates)
  }

  appendLog(entries: readonly LogEntry[]): Promise<void> {
    return appendLog(this.database, entries)
  }

  async settle(settlements: readonly Settlement[]): Promise<SettleResult[]> {
    const quick = await this.quick.settle(this.database, settlements)
    if (quick) return quick
    const results = await settle(this.database, settlements, this.clock)
    if (results.some(isReleasing)) this.claims.forget()
    return results
  }

  reportWorker(report: WorkerReport): Promise<WorkerRequest | null> {
    return reportWorker(this.database, report)
  }

  hintPorts(host: string): Promise<number[]> {
    return hintPorts(this.database, host)
  }

  requestWorker(id: string, request: WorkerRequest | null): Promise<boolean> {
    return requestWorker(this.database, id, request)
  }

  schedules(): Promise<Schedule[]> {
    return listAllSchedules(this.database)
  }

  putSchedule(schedule: ScheduleInput): Promise<void> {
    return putSchedule(this.database, schedule)
  }

  removeSchedule(name: string): Promise<boolean> {
    return removeSchedule(this.database, name)
  }

  runSchedules(stopped?: AbortSignal): ReturnType<ScheduleStore['runSchedules']> {
    return runSchedules(this.database, { submit: (tasks) => this.submit(tasks), clock: this.clock, stopped })
  }

  policies(): Promise<Policy[]> {
    return readPolicies(this.database)
  }

  async setPolicy(policy: PolicyInput): Promise<void> {
    await setPolicy(this.database, policy)
    this.claims.forget()
  }

  async removePolicy(scope: PolicyScope, name: string): Promise<boolean> {
    const removed = await removePolicy(this.database, scope, name)
    this.claims.forget()
    return removed
  }

  recover(limit: number): Promise<Recovered[]> {
    return recover(this.database, this.clock, limit)
  }

  async act(taskId: string, action: OperatorAction, by: string): Promise<ActionResult> {
    const result = await act(this.database, taskId, { action, by })
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

  recentAttempts(window: RecentWindow): Promise<RecentAttempts> {
    return recentAttempts(this.probes, window)
  }

  read(signal?: AbortSignal): Promise<QueueReading> {
    return readQueue(this.probes, signal)
  }

  deadLetters(filter: DeadLetterFilter, limit: number, cursor: string | null): Promise<DeadLetterPage> {
    return listDeadLetters(this.database, filter, { limit, cursor })
  }

  countDeadLetters(filter: DeadLetterFilter, mostCounted: number): Promise<number> {
    return countDeadLetters(this.database, filter, mostCounted)
  }

  newestDeadLetter(): Promise<string | null> {
    return newestDeadLetter(this.database)
  }

  async replay(filter: DeadLetterFilter, range: DeadLetterRange): Promise<DeadLetterStep> {
    const step = await resolveStep(this.database, filter, { action: 'replay', ...range })
    this.claims.forget()
    return step
  }

  discard(filter: DeadLetterFilter, range: DeadLetterRange): Promise<DeadLetterStep> {
    return resolveStep(this.database, filter, { action: 'discard', ...range })
  }

  async resolveDeadLetter(id: string, action: 'replay' | 'discard', by: string): Promise<ActionResult> {
    const result = await resolveDeadLetter(this.database, id, { action, by })
    this.claims.forget()
    return result
  }

  close(): Promise<void> {
    return Promise.resolve()
  }
}
