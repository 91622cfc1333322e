import type { RetryPolicy, TaskState } from '../../src-main/kernel/index.ts'
import type { ClientHistory } from './client-history.ts'

/** One row of the witness: written by a trigger in the transaction of the change, so its order is the true one. */
export interface WitnessEvent {
  readonly seq: number
  /** By the database's clock. */
  readonly atMs: number
  readonly taskId: string
  readonly type: string
  readonly owner: string
  readonly from: TaskState | null
  readonly to: TaskState
  readonly attemptBefore: number
  readonly attemptAfter: number
  /** Counted attempts when it happened. */
  readonly attemptsUsed: number
  readonly workerBefore: string | null
  readonly workerAfter: string | null
  /** The database account of the session that wrote: one account per process, so it names the process for certain. */
  readonly account: string
  /** Whether the lease that was held before had run out by the database's clock at that moment. */
  readonly leaseExpired: boolean
  /** How long it had run out then; negative while it held, null without one. */
  readonly leaseOverMs: number | null
  /** By the database's clock, `run_at` lay so far ahead (negative: behind) when the event began. */
  readonly dueInMs: number
  /** The same of the new `run_at`. */
  readonly nextDueInMs: number
  /** Of the new lease; null without one. */
  readonly leaseMs: number | null
}

export interface AttemptRow {
  readonly taskId: string
  readonly attempt: number
  readonly outcome: string
}

export interface FinalTask {
  readonly type: string
  readonly state: TaskState
  readonly attempt: number
  readonly attemptsUsed: number
  /** Null: what the policies say. */
  readonly maxAttempts: number | null
  readonly retryPolicy: RetryPolicy | null
  /** Made by the producer; names the task also when its submission was never acknowledged. */
  readonly title: string
  readonly deadLetters: { readonly all: number; readonly open: number }
}

export interface EffectRow {
  /** The task's title. */
  readonly title: string
  readonly calls: number
}

/** Set before the first event, the same for the whole run. */
export interface Limits {
  readonly types?: Readonly<Record<string, number>>
  readonly owners?: Readonly<Record<string, number>>
  readonly queue?: number
  /** Of types: claims in any window of the period. */
  readonly rates?: Readonly<Record<string, { readonly count: number; readonly periodMs: number }>>
  /** Quotas of types: tasks that have not ended. */
  readonly unfinished?: Readonly<Record<string, number>>
}

/** From one moment to another (ms since 1970). */
export interface Span {
  readonly fromMs: number
  readonly toMs: number
}

/** How long after the end of its lease a lost attempt is recovered at the latest, without the time in which nobody could. */
export interface RecoveryPromise {
  readonly withinMs: number
  readonly outages: readonly Span[]
}

export interface Evidence {
  /** Ids that were given out for a submission. */
  readonly submitted: readonly string[]
  /** Titles whose submission may have happened or not. */
  readonly unknown?: readonly string[]
  /** By title: how those must end that must not end in SUCCESS. */
  readonly expected?: ReadonlyMap<string, readonly TaskState[]>
  readonly final: ReadonlyMap<string, FinalTask>
  readonly events: readonly WitnessEvent[]
  readonly attempts: readonly AttemptRow[]
  /** Of the handler's ledger; absent when the run has none. Tasks of these types leave one. */
  readonly effects?: { readonly types: readonly string[]; readonly rows: readonly EffectRow[] }
  /** Tasks that a schedule made, by title, which no producer knows of; and of how many ticks. */
  readonly scheduled?: { readonly title: string; readonly tasks: number; readonly ticks: number }
  readonly history?: ClientHistory
  /** What every claim must have been given (ms). */
  readonly leaseMs?: number
  readonly limits?: Limits
  /** Absent where time proves nothing. */
  readonly recovery?: RecoveryPromise
  /** Accounts of people and tests, whose changes no fence governs. */
  readonly operators: readonly string[]
}
