/**
 * The life of a task. This table is the only authority on state changes: the SQL guards of both stores,
 * the buttons of the page and the tests derive from it.
 */
export const taskStates = [
  'CREATED',
  'QUEUED',
  'RETRY_WAIT',
  'PAUSED',
  'RUNNING',
  'CANCEL_REQUESTED',
  'SUCCESS',
  'PARTIAL_SUCCESS',
  'FAILED',
  'CANCELLED'
] as const
export type TaskState = (typeof taskStates)[number]

/**
 * What can happen to a task. Operators cause `release` to `retry`; workers and recovery cause the rest, and so does the end of a task
 * that others wait for (`release`, `failDependency`).
 */
export const taskEvents = [
  'release',
  'cancel',
  'pause',
  'resume',
  'retry',
  'claim',
  'succeed',
  'succeedPartially',
  'retryLater',
  'fail',
  'acknowledgeCancel',
  'handBack',
  'passDeadline',
  'failDependency'
] as const
export type TaskEvent = (typeof taskEvents)[number]

export interface Transition {
  readonly event: TaskEvent
  readonly from: TaskState
  readonly to: TaskState
}

const step = (event: TaskEvent, from: readonly TaskState[], to: TaskState): Transition[] =>
  from.map((state) => ({ event, from: state, to }))

export const transitions: readonly Transition[] = [
  ...step('release', ['CREATED'], 'QUEUED'),
  ...step('cancel', ['CREATED', 'QUEUED', 'RETRY_WAIT', 'PAUSED'], 'CANCELLED'),
  ...step('cancel', ['RUNNING'], 'CANCEL_REQUESTED'),
  ...step('pause', ['QUEUED', 'RETRY_WAIT'], 'PAUSED'),
  ...step('resume', ['PAUSED'], 'QUEUED'),
  ...step('retry', ['FAILED', 'CANCELLED'], 'QUEUED'),
  ...step('claim', ['QUEUED', 'RETRY_WAIT'], 'RUNNING'),
  ...step('succeed', ['RUNNING', 'CANCEL_REQUESTED'], 'SUCCESS'),
  ...step('succeedPartially', ['RUNNING', 'CANCEL_REQUESTED'], 'PARTIAL_SUCCESS'),
  ...step('retryLater', ['RUNNING'], 'RETRY_WAIT'),
  // A task that was asked to stop gets no further attempt: what would have been a retry ends it as cancelled.
  ...step('retryLater', ['CANCEL_REQUESTED'], 'CANCELLED'),
  ...step('fail', ['RUNNING', 'CANCEL_REQUESTED'], 'FAILED'),
  ...step('acknowledgeCancel', ['CANCEL_REQUESTED'], 'CANCELLED'),
  ...step('handBack', ['RUNNING'], 'QUEUED'),
  ...step('handBack', ['CANCEL_REQUESTED'], 'CANCELLED'),
  ...step('passDeadline', ['CREATED', 'QUEUED', 'RETRY_WAIT'], 'FAILED'),
  // A task that it waited for ended badly, and its producer chose to fail with it.
  ...step('failDependency', ['CREATED'], 'FAILED')
]

/** Waiting for a worker, now or at `runAt`. */
export const waitingStates = ['QUEUED', 'RETRY_WAIT'] as const satisfies readonly TaskState[]
/** Not begun, and failed when the deadline passes. What an operator paused has time until it goes on. */
export const deadlineStates = ['CREATED', ...waitingStates] as const satisfies readonly TaskState[]
/** A worker holds a lease. */
export const leasedStates = ['RUNNING', 'CANCEL_REQUESTED'] as const satisfies readonly TaskState[]
export const terminalStates = [
  'SUCCESS',
  'PARTIAL_SUCCESS',
  'FAILED',
  'CANCELLED'
] as const satisfies readonly TaskState[]
export const liveStates = [
  'CREATED',
  'QUEUED',
  'RETRY_WAIT',
  'PAUSED',
  'RUNNING',
  'CANCEL_REQUESTED'
] as const satisfies readonly TaskState[]

/** The state that `event` leads to from `from`; undefined when the table forbids it. */
export function nextState(from: TaskState, event: TaskEvent): TaskState | undefined {
  return transitions.find((t) => t.event === event && t.from === from)?.to
}

/** What an operator may ask for; each is an event of the table. */
export const operatorActions = ['release', 'cancel', 'pause', 'resume', 'retry'] as const satisfies readonly TaskEvent[]
export type OperatorAction = (typeof operatorActions)[number]

export function allowedActions(state: TaskState): OperatorAction[] {
  return operatorActions.filter((action) => nextState(state, action) !== undefined)
}

export function isTerminal(state: TaskState): boolean {
  return (terminalStates as readonly TaskState[]).includes(state)
}
