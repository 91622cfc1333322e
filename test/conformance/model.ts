import {
  deadlineStates,
  isTerminal,
  leasedStates,
  nextState,
  waitingStates,
  type AfterFailure,
  type AttemptOutcome,
  type DeadLetterResolution,
  type DeathReason,
  type Fence,
  type OperatorAction,
  type TaskEvent,
  type TaskState
} from '../../src-main/kernel/index.ts'

/** What the model knows of a task. Times are reduced to what decides: is it due, did the lease or the deadline pass. */
export interface ModelTask {
  readonly id: string
  readonly type: string
  readonly priority: number
  readonly maxAttempts: number
  /** What it names; it may be gone by now. */
  readonly delays: string | null
  state: TaskState
  attempt: number
  attemptsUsed: number
  workerId: string
  /** Of the latest attempt; null: it has told none. */
  processed: number | null
  due: boolean
  leaseExpired: boolean
  deadlinePassed: boolean
  held: boolean
  readonly ended: { readonly workerId: string; readonly outcome: AttemptOutcome }[]
  readonly dependencies: ModelDependency[]
  readonly letters: ModelLetter[]
}

interface ModelLetter {
  readonly attempt: number
  readonly reason: DeathReason
  resolution: DeadLetterResolution
  by: string | null
}

interface ModelDependency {
  readonly on: ModelTask
  readonly afterFailure: AfterFailure
  settled: boolean
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
  /** Of the whole queue; null: none. */
  quota: number | null = null
  /** Retry delays by name (ms), and what the policies of the types name. */
  readonly delays = new Map<string, number>()
  readonly delaysOfTypes = new Map<string, string>()

  get hasRoom(): boolean {
    return this.quota === null || this.tasks.filter(({ state }) => !isTerminal(state)).length < this.quota
  }

  add(
    task: Pick<ModelTask, 'id' | 'type' | 'priority' | 'maxAttempts' | 'delays' | 'held'> & {
      after: ModelTask[]
      afterFailure: AfterFailure
    }
  ): ModelTask {
    const { id, type, priority, maxAttempts, delays, held, after, afterFailure } = task
    const added: ModelTask = {
      ...{
        id,
        type,
        priority,
        maxAttempts,
        delays,
        held,
        state: 'CREATED',
        attempt: 0,
        attemptsUsed: 0,
        workerId: '',
        processed: null
      },
      ...{ due: true, leaseExpired: false, deadlinePassed: false, ended: [], letters: [] },
      dependencies: after.map((on) => ({ on, afterFailure, settled: false }))
    }
    this.tasks.push(added)
    this.look(added)
    return added
  }

  /** What its dependencies lead a task in CREATED to: those that ended are seen once. */
  private look(task: ModelTask): void {
    const ended = task.dependencies.filter(({ on, settled }) => !settled && isTerminal(on.state))
    for (const one of ended) one.settled = true
    if (task.state !== 'CREATED') return
    const isBad = ({ on, afterFailure }: ModelDependency): boolean =>
      afterFailure === 'FAIL' && (on.state === 'FAILED' || on.state === 'CANCELLED')
    if (ended.some(isBad)) this.end(task, 'FAILED', 'DEPENDENCY')
    else if (!task.held && task.dependencies.every(({ settled }) => settled)) task.state = 'QUEUED'
  }

  private end(task: ModelTask, to: TaskState, reason: DeathReason): void {
    task.state = to
    if (to === 'FAILED') task.letters.push({ attempt: task.attempt, reason, resolution: 'OPEN', by: null })
    for (const dependent of this.tasks)
      if (dependent.dependencies.some(({ on, settled }) => on === task && !settled)) this.look(dependent)
  }

  /** What the task names, else what its type's policy names; undefined: neither, or it is gone. */
  delayOf({ type, delays }: ModelTask): number | undefined {
    return this.delays.get(delays ?? '') ?? this.delays.get(this.delaysOfTypes.get(type) ?? '')
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
    task.processed = null
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

  saveProgress(fence: Fence, processed: number): boolean {
    const task = this.held(fence)
    if (task) task.processed = processed
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

  act(task: ModelTask, action: OperatorAction, by: string): boolean {
    const to = nextState(task.state, action)
    if (!to) return false
    if (isTerminal(to)) this.end(task, to, 'FINAL')
    else task.state = to
    if (action === 'release') task.held = false
    if (action === 'retry') {
      task.held = false
      for (const letter of task.letters.filter(({ resolution }) => resolution === 'OPEN'))
        Object.assign(letter, { resolution: 'REPLAYED', by })
      task.attemptsUsed = 0
      task.due = true
      task.deadlinePassed = false
    }
    return true
  }

  /** Whether there was an open letter. */
  resolve(task: ModelTask, action: 'replay' | 'discard', by: string): boolean {
    const open = task.letters.find(({ resolution }) => resolution === 'OPEN')
    if (!open) return false
    if (action === 'discard') Object.assign(open, { resolution: 'DISCARDED', by })
    else this.act(task, 'retry', by)
    return true
  }

  /** What a full recovery does: `task reason state` for each. */
  recover(): string[] {
    const lost = this.tasks.filter((task) => isOneOf(leasedStates, task.state) && task.leaseExpired)
    // What is released by these ends is for the next recovery.
    const late = this.tasks.filter((task) => task.deadlinePassed && isOneOf(deadlineStates, task.state))
    // All of them before what follows from any: one that waits for another fails by its own deadline.
    for (const task of late) task.state = nextState(task.state, 'passDeadline')!
    for (const task of late) this.end(task, task.state, 'DEADLINE')
    for (const task of lost) {
      const fails = task.state === 'RUNNING' && task.attemptsUsed >= task.maxAttempts
      this.endAttempt(task, 'LEASE_EXPIRED', nextState(task.state, fails ? 'fail' : 'retryLater')!)
    }
    const tell = (tasks: readonly ModelTask[], reason: string): string[] =>
      tasks.map(({ id, state }) => `${id} ${reason} ${state}`)
    return [...tell(late, 'DEADLINE'), ...tell(lost, 'LEASE_EXPIRED')]
  }

  private endAttempt(task: ModelTask, outcome: AttemptOutcome, to: TaskState): void {
    task.ended.push({ workerId: task.workerId, outcome })
    if (to === 'RETRY_WAIT') task.due = false
    if (!isTerminal(to)) {
      task.state = to
      return
    }
    task.leaseExpired = false
    this.end(task, to, 'EXHAUSTED')
  }
}
