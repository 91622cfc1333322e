import {
  isTerminal,
  leasedStates,
  nextState,
  waitingStates,
  type AttemptOutcome,
  type Fence,
  type OperatorAction,
  type TaskEvent,
  type TaskState
} from '../../src-main/kernel/index.ts'

/** What the model knows of a task. Times are reduced to what decides: is it due, did the lease or the deadline pass. */
export interface ModelTask {
  readonly id: string
  readonly type: string
  readonly maxAttempts: number
  state: TaskState
  attempt: number
  attemptsUsed: number
  workerId: string
  due: boolean
  leaseExpired: boolean
  deadlinePassed: boolean
  readonly ended: { readonly workerId: string; readonly outcome: AttemptOutcome }[]
}

export type SettledOutcome = Exclude<AttemptOutcome, 'LEASE_EXPIRED'>

const eventOf: Readonly<Record<SettledOutcome, TaskEvent>> = {
  SUCCESS: 'succeed',
  PARTIAL_SUCCESS: 'succeedPartially',
  RETRY: 'retryLater',
  FAILED: 'fail',
  CANCELLED: 'acknowledgeCancel',
  HANDED_BACK: 'handBack'
}

const isOneOf = (states: readonly TaskState[], state: TaskState): boolean => states.includes(state)

/** The queue as the port's comments describe it, in memory: slow, simple and without a database. */
export class QueueModel {
  readonly tasks: ModelTask[] = []

  add(task: Pick<ModelTask, 'id' | 'type' | 'maxAttempts'> & { held: boolean }): void {
    const { id, type, maxAttempts, held } = task
    this.tasks.push({
      ...{ id, type, maxAttempts, state: held ? 'CREATED' : 'QUEUED', attempt: 0, attemptsUsed: 0, workerId: '' },
      ...{ due: true, leaseExpired: false, deadlinePassed: false, ended: [] }
    })
  }

  find(id: string): ModelTask | undefined {
    return this.tasks.find((task) => task.id === id)
  }

  claimable(types: readonly string[]): ModelTask[] {
    return this.tasks.filter(
      (task) => isOneOf(waitingStates, task.state) && task.due && !task.deadlinePassed && types.includes(task.type)
    )
  }

  claim(task: ModelTask, workerId: string): void {
    task.state = 'RUNNING'
    task.attempt++
    task.attemptsUsed++
    task.workerId = workerId
    task.leaseExpired = false
  }

  /** The task on which the fence holds. */
  held({ taskId, workerId, attempt }: Fence): ModelTask | undefined {
    const task = this.find(taskId)
    if (!task || !isOneOf(leasedStates, task.state)) return undefined
    return task.workerId === workerId && task.attempt === attempt ? task : undefined
  }

  renew(fence: Fence): boolean {
    const task = this.held(fence)
    if (task) task.leaseExpired = false
    return task !== undefined
  }

  /** Whether the settlement is accepted, a repeat of an accepted one included. */
  settle(fence: Fence, outcome: SettledOutcome): boolean {
    const task = this.held(fence)
    if (!task) {
      const ended = this.find(fence.taskId)?.ended[fence.attempt - 1]
      return ended?.workerId === fence.workerId && ended.outcome === outcome
    }
    const to = nextState(task.state, eventOf[outcome])
    if (!to) return false
    this.endAttempt(task, outcome, to)
    if (outcome === 'HANDED_BACK') task.attemptsUsed--
    return true
  }

  act(task: ModelTask, action: OperatorAction): boolean {
    const to = nextState(task.state, action)
    if (!to) return false
    task.state = to
    if (action === 'retry') {
      task.attemptsUsed = 0
      task.due = true
      task.deadlinePassed = false
    }
    return true
  }

  /** What a full recovery does: `task reason state` for each. */
  recover(): string[] {
    return this.tasks.flatMap((task) => {
      if (isOneOf(leasedStates, task.state) && task.leaseExpired) {
        const fails = task.state === 'RUNNING' && task.attemptsUsed >= task.maxAttempts
        this.endAttempt(task, 'LEASE_EXPIRED', nextState(task.state, fails ? 'fail' : 'retryLater')!)
        return [`${task.id} LEASE_EXPIRED ${task.state}`]
      }
      const late = task.deadlinePassed ? nextState(task.state, 'passDeadline') : undefined
      if (!late) return []
      task.state = late
      return [`${task.id} DEADLINE ${task.state}`]
    })
  }

  private endAttempt(task: ModelTask, outcome: AttemptOutcome, to: TaskState): void {
    task.ended.push({ workerId: task.workerId, outcome })
    task.state = to
    if (to === 'RETRY_WAIT') task.due = false
    if (isTerminal(to)) task.leaseExpired = false
  }
}
