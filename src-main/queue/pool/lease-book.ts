import type { Clock, Fence } from '../../kernel/index.ts'
import type { ClaimedTask } from '../task-store.ts'
import type { PoolJob } from './pool-job.ts'

export interface Lease {
  readonly claimed: ClaimedTask
  /** undefined until it is handed to the pool, and when it never is. */
  job: PoolJob | undefined
  /** `settling`: the execution has ended and the store is being told. */
  phase: 'running' | 'settling'
  /** Monotonic ms by which the server may have given the task to someone else, counted from before the last renewal was sent. */
  deadlineAt: number
}

/** Within one worker: its id is left out. */
export const keyOf = ({ taskId, attempt }: Fence): string => `${taskId}:${attempt}`

/** The leases that this worker believes to hold. Local time only ever makes it give up earlier, never hold on longer. */
export class LeaseBook {
  private readonly clock: Clock
  private readonly leases = new Map<string, Lease>()

  constructor(clock: Clock) {
    this.clock = clock
  }

  get size(): number {
    return this.leases.size
  }

  get running(): number {
    return this.all().filter((lease) => lease.phase === 'running').length
  }

  all(): Lease[] {
    return [...this.leases.values()]
  }

  add(claimed: ClaimedTask, deadlineAt: number): Lease {
    const lease: Lease = { claimed, job: undefined, phase: 'running', deadlineAt }
    this.leases.set(keyOf(claimed.fence), lease)
    return lease
  }

  find(fence: Fence): Lease | undefined {
    return this.leases.get(keyOf(fence))
  }

  remove(fence: Fence): void {
    this.leases.delete(keyOf(fence))
  }

  /** Milliseconds until the server may have given it away; negative when that time is over. */
  remainingMs(lease: Lease): number {
    return lease.deadlineAt - this.clock.monotonic()
  }
}
