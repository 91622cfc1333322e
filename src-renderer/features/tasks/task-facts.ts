import {
  isTerminal,
  type Attempt,
  type OperatorAction,
  type TaskState,
  type TaskSummary,
  type TaskView
} from '@contract'

/** The states that the task's own rows prove it has been in; nothing is assumed of the rest. */
export function visitedStates(task: Pick<TaskView, 'state' | 'attempts'>): TaskState[] {
  const been = new Set<TaskState>([task.state])
  // What never ran and ended may have ended in CREATED: cancelled there, or with a task that it waited for.
  const mayHaveEndedHeld = isTerminal(task.state) && task.attempts.length === 0
  if (task.state !== 'CREATED' && !mayHaveEndedHeld) been.add('QUEUED')
  if (task.attempts.length > 0) been.add('RUNNING')
  for (const { outcome } of task.attempts) {
    if (outcome === 'RETRY' || outcome === 'LEASE_EXPIRED') been.add('RETRY_WAIT')
    if (outcome === 'CANCELLED') been.add('CANCEL_REQUESTED')
  }
  return [...been]
}

/** The mark of how an attempt ended; the running one has its task's. */
export function outcomeMark(attempt: Attempt, state: TaskState): TaskState {
  switch (attempt.outcome) {
    case null:
      return state === 'CANCEL_REQUESTED' ? 'CANCEL_REQUESTED' : 'RUNNING'
    case 'RETRY':
    case 'LEASE_EXPIRED':
      return 'RETRY_WAIT'
    case 'HANDED_BACK':
      return 'QUEUED'
    default:
      // Another program may have written what no engine of ours knows.
      return ends.find((state) => state === attempt.outcome) ?? 'CREATED'
  }
}
const ends: readonly TaskState[] = ['SUCCESS', 'PARTIAL_SUCCESS', 'FAILED', 'CANCELLED']

/** Pausing and resuming share a place, and only a held task is released: a row of buttons that keeps its order. */
export function offeredActions(state: TaskState): OperatorAction[] {
  const first: OperatorAction[] = state === 'CREATED' ? ['release'] : []
  return [...first, 'cancel', state === 'PAUSED' ? 'resume' : 'pause', 'retry']
}

/** Whether the work may already have done something outside: a cancel then asks, it does not undo. */
export const isUnderWay = (state: TaskState): boolean => state === 'RUNNING' || state === 'CANCEL_REQUESTED'

export interface TimeSpan {
  readonly from: number
  readonly to: number
}

/** The time that all attempts span, at least a second wide; now is its end while one runs. */
export function attemptsSpan(attempts: readonly Attempt[], now: number): TimeSpan {
  const from = Math.min(...attempts.map((one) => Math.min(one.dueAt, one.startedAt)))
  const to = Math.max(...attempts.map((one) => one.endedAt ?? now))
  return { from, to: Math.max(to, from + 1_000) }
}

/** Too short for hours and minutes to tell its moments apart. */
export const showsSeconds = ({ from, to }: TimeSpan): boolean => to - from < 240_000

/** A few round moments inside a span, for its axis; labels with seconds are wider, so there are fewer of them. */
export function axisTimes({ from, to }: TimeSpan): number[] {
  const steps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 21_600, 43_200, 86_400]
  const step =
    (steps.find((seconds) => (to - from) / (seconds * 1000) <= (showsSeconds({ from, to }) ? 2.2 : 3.5)) ?? 604_800) *
    1000
  const times: number[] = []
  for (let at = Math.ceil(from / step) * step; at <= to; at += step) times.push(at)
  return times.length <= 4 ? times : times.filter((_, i) => i % Math.ceil(times.length / 4) === 0)
}

/** When a task that waits runs, as the page says it; null when it does not wait for a moment. `tasks.nextRun` has the words. */
export function nextRun(
  task: Pick<TaskSummary, 'state' | 'runAt'>,
  now: number
): { readonly kind: 'again' | 'first' | 'due'; readonly inMs: number } | null {
  const inMs = task.runAt - now
  if (task.state === 'RETRY_WAIT') return inMs > 0 ? { kind: 'again', inMs } : { kind: 'due', inMs: 0 }
  return task.state === 'QUEUED' && inMs > 0 ? { kind: 'first', inMs } : null
}

type Tries = Pick<TaskSummary, 'state' | 'attempt' | 'attemptsUsed' | 'maxAttempts'>

/**
 * How many attempts there were, and how many of those that the task may have are used: a retry by an operator starts that count anew,
 * and an attempt that was handed back is not in it. A key of `tasks` and its values.
 */
export function attemptsText({
  attempt,
  attemptsUsed: used,
  maxAttempts: most
}: Tries): [string, Record<string, number>] {
  return attempt === used
    ? ['tasks.attemptsUsed', { used, most }]
    : ['tasks.attemptsCounted', { all: attempt, used, most }]
}

/** No attempt is left after the one that runs, or the one that is waited for. */
export const isLastTry = ({ state, attemptsUsed, maxAttempts }: Tries): boolean =>
  !isTerminal(state) && attemptsUsed >= maxAttempts - (isUnderWay(state) ? 0 : 1)

/** What a task's failed parts and last error have to say. */
export const hasError = (task: Pick<TaskSummary, 'errorCode' | 'errorMessage'>): boolean =>
  Boolean(task.errorCode ?? task.errorMessage)
