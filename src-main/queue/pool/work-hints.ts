import { createSocket, type Socket } from 'node:dgram'
import { hostname } from 'node:os'
import { AppError, withDeadline, type Clock, type NewTask, type TaskState } from '../../kernel/index.ts'
import { isReleasing } from '../dependents.ts'
import type { ActionResult, SettleResult, SubmitResult, TaskStore } from '../task-store.ts'
import { hintText, loopback } from './hint-listener.ts'

/** Workers come and go: how long a look at their ports is good for. */
const portsMs = 3_000
const lookMs = 2_000
const lastPort = 65_535
/** Hints that follow each other sooner go as one. */
const gatherMs = 10

export interface WorkHintsOptions {
  readonly clock: Clock
  /** As workers report theirs; default: this host's name. */
  readonly host?: string
}

/**
 * The same store; whatever makes tasks claimable through it is told to the workers of this host, so that an idle one need not poll often
 * to be quick. Nobody waits for a hint and nothing depends on one: a worker that gets none finds the task with its next poll.
 */
export function withHints<Store extends TaskStore>(store: Store, options: WorkHintsOptions): Store {
  const hints = new WorkHints(store, options)
  const telling = tellingMethods(store, hints)
  return new Proxy(store, {
    get(target, name) {
      const own: unknown = Reflect.get(telling, name)
      if (own !== undefined) return own
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === 'function' ? (value.bind(target) as unknown) : value
    }
  })
}

type Telling = Pick<
  TaskStore,
  | 'submit'
  | 'act'
  | 'settle'
  | 'recover'
  | 'replay'
  | 'resolveDeadLetter'
  | 'runSchedules'
  | 'setPolicy'
  | 'removePolicy'
  | 'close'
>

function tellingMethods(store: TaskStore, hints: WorkHints): Telling {
  const tellIf = <T>(made: (result: T) => boolean, result: T): T => {
    if (made(result)) hints.tell()
    return result
  }
  const always = (): boolean => true
  return {
    submit: async (tasks) => tellIf((results) => madeDue(tasks, results), await store.submit(tasks)),
    act: async (...call) => tellIf(madeWaiting, await store.act(...call)),
    settle: async (settlements) => tellIf(letGo, await store.settle(settlements)),
    recover: async (limit) => tellIf((tasks) => tasks.some(isQueued), await store.recover(limit)),
    replay: async (...call) => tellIf(({ changed }) => changed > 0, await store.replay(...call)),
    resolveDeadLetter: async (...call) => tellIf(madeWaiting, await store.resolveDeadLetter(...call)),
    runSchedules: async (stopped) => tellIf(({ submitted }) => submitted.length > 0, await store.runSchedules(stopped)),
    // What was disabled or at its limit may be taken now.
    setPolicy: async (policy) => tellIf(always, await store.setPolicy(policy)),
    removePolicy: async (...call) => tellIf(always, await store.removePolicy(...call)),
    close: async () => {
      hints.close()
      await store.close()
    }
  }
}

const isQueued = ({ state }: { readonly state: TaskState | undefined }): boolean => state === 'QUEUED'

/** The task itself, or those that waited for it. */
const madeWaiting = (result: ActionResult): boolean =>
  result.status === 'done' && (isQueued({ state: result.to }) || isReleasing(result))

/** One that is due later is found by a poll: no clock but the database's says when that is. */
const madeDue = (tasks: readonly NewTask[], results: readonly SubmitResult[]): boolean =>
  results.some(({ status }, index) => status === 'created' && !tasks[index]?.held && tasks[index]?.runAt === null)

/** Handed back; or ended, and others waited for that. */
const letGo = (results: readonly SettleResult[]): boolean =>
  results.some((result) => isQueued(result) || isReleasing(result))

class WorkHints {
  private readonly store: TaskStore
  private readonly clock: Clock
  private readonly host: string
  private socket: Socket | undefined
  private ports: readonly number[] = []
  private lookAgainAt = Number.NEGATIVE_INFINITY
  private sending = false
  private again = false
  private closed = false

  constructor(store: TaskStore, { clock, host }: WorkHintsOptions) {
    this.store = store
    this.clock = clock
    this.host = host ?? hostname()
  }

  /** Returns at once and never throws. */
  tell(): void {
    this.again = true
    if (!this.sending && !this.closed) void this.send()
  }

  close(): void {
    this.closed = true
    this.socket?.close()
    this.socket = undefined
  }

  private async send(): Promise<void> {
    this.sending = true
    try {
      while (this.again && !this.closed) {
        this.again = false
        await this.hintAll()
        await this.clock.sleep(gatherMs)
      }
    } finally {
      this.sending = false
    }
  }

  /** Those that are known first: a look at the database must not make them late. */
  private async hintAll(): Promise<void> {
    const known = new Set(this.ports)
    for (const port of known) this.hint(port)
    if (this.clock.monotonic() < this.lookAgainAt) return
    await this.look()
    for (const port of this.ports) if (!known.has(port)) this.hint(port)
  }

  private hint(port: number): void {
    // Other programs may write the workers' rows too, and a port that is none makes `send` throw.
    if (this.closed || !Number.isInteger(port) || port < 1 || port > lastPort) return
    this.socket ??= this.openSocket()
    this.socket.send(hintText, port, loopback, () => undefined) // lost hints mean a normal poll
  }

  private openSocket(): Socket {
    const socket = createSocket('udp4')
    socket.unref()
    socket.on('error', () => undefined)
    return socket
  }

  private async look(): Promise<void> {
    const late = (): AppError => new AppError('STATEMENT_TIMEOUT', 'operational', 'The ports came too late.')
    // Without an answer there are no hints for a while.
    this.ports = await withDeadline(this.clock, lookMs, this.store.hintPorts(this.host), late).catch(() => [])
    this.lookAgainAt = this.clock.monotonic() + portsMs
  }
}
