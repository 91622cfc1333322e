import { hostname } from 'node:os'
import type { AppError, AttemptError, Fence, LogLevel, TaskState } from '../../kernel/index.ts'
import type { ClaimedTask, NewArtifact, Settlement } from '../task-store.ts'
import { artifactPath } from './artifact-files.ts'
import type { AttemptNotes } from './attempt-notes.ts'
import type { Lease, LeaseBook } from './lease-book.ts'
import type { JobEnd, KeptFile, PoolJob } from './pool-job.ts'
import { settlementOf } from './settlement-of.ts'
import type { SettlementWriter } from './settlement-writer.ts'
import type { ThreadPool } from './thread-pool.ts'
import type { HookedAttempt, HookRunner } from './worker-hooks.ts'
import type { WorkerOptions } from './worker-options.ts'

const dayMs = 86_400_000

export interface AttemptFlowParts {
  readonly options: Required<WorkerOptions>
  readonly book: LeaseBook
  readonly pool: ThreadPool
  readonly writer: SettlementWriter
  readonly notes: AttemptNotes
  readonly hooks: HookRunner
  readonly log: (level: LogLevel, message: string, taskId: string | null) => void
}

/** The way of each claimed task: into the pool, out of it, and into the store again. */
export class AttemptFlow {
  private readonly parts: AttemptFlowParts
  private accepting = true
  /** Why attempts failed whose outcome is being stored. */
  private readonly errors = new WeakMap<Lease, AttemptError>()

  constructor(parts: AttemptFlowParts) {
    this.parts = parts
  }

  /** From now on what is still claimed is handed back, and so is what has not begun. */
  stopAccepting(): void {
    this.accepting = false
    this.parts.pool.dropUnstarted('shutdown')
  }

  /** `sentAt`: monotonic ms from which their leases count. */
  claimed(tasks: readonly ClaimedTask[], sentAt: number): void {
    const { book, writer, pool, options } = this.parts
    const leases = tasks.map((task) => book.add(task, sentAt + task.leaseMs))
    const { hooks } = this.parts
    if (tasks.length > 0 && hooks.has('onClaimed')) void hooks.call('onClaimed', tasks.map(hooked))
    // So slow a claim that the leases are nearly over is handed back too: nothing has begun.
    const passedMs = options.clock.monotonic() - sentAt
    const tooLate = tasks.some(({ leaseMs }) => passedMs > (leaseMs * 3) / 4)
    if (!this.accepting || tooLate) {
      for (const lease of leases) writer.add(lease, { fence: lease.claimed.fence, outcome: 'HANDED_BACK' })
      return
    }
    for (const [index, job] of pool.submit(tasks).entries()) {
      const lease = leases[index]
      if (lease) lease.job = job
    }
  }

  started(job: PoolJob): void {
    void this.parts.hooks.call('onAttemptStart', hooked(job.claimed))
  }

  ended(job: PoolJob, end: JobEnd): void {
    const { book, notes, writer, options } = this.parts
    const lease = book.find(job.claimed.fence)
    notes.forget(job.claimed.fence)
    if (!lease) return
    const settlement = settlementOf({
      claimed: job.claimed,
      end,
      interrupted: job.interrupted,
      progress: job.progress,
      artifacts: job.files.map((file) => this.artifactOf(job, file)),
      maskText: options.maskText,
      random: () => options.clock.random()
    })
    if (settlement) {
      if ('error' in settlement) this.errors.set(lease, settlement.error)
      this.logFailure(settlement)
      writer.add(lease, settlement)
    } else {
      book.remove(job.claimed.fence)
      this.closed(lease, 'lost')
    }
  }

  closed(lease: Lease, end: TaskState | 'lost' | 'given-up'): void {
    const { log, hooks } = this.parts
    const { fence } = lease.claimed
    const state = end === 'lost' || end === 'given-up' ? null : end
    if (hooks.has('onAttemptEnd'))
      void hooks.call('onAttemptEnd', { ...hooked(lease.claimed), state, error: this.errors.get(lease) ?? null })
    if (end === 'lost') log('warn', `the lease of attempt ${fence.attempt} was lost`, fence.taskId)
    if (end === 'given-up') log('error', 'its outcome could not be stored; it will be recovered', fence.taskId)
  }

  outcomeRefused({ claimed: { fence } }: Lease, { code, message }: AppError): void {
    this.parts.log(
      'error',
      `the database does not take the outcome of attempt ${fence.attempt}, ${code}: ${message}`,
      fence.taskId
    )
  }

  lost(lease: Lease): void {
    const { pool } = this.parts
    if (!lease.job || lease.job.interrupted === 'lease-lost') return
    void this.parts.hooks.call('onLeaseLost', hooked(lease.claimed))
    pool.interrupt(lease.job, 'lease-lost', Math.min(1_000, lease.claimed.leaseMs / 12))
  }

  /** The store refused a write under this fence. */
  refused(fence: Fence): void {
    const lease = this.parts.book.find(fence)
    if (lease?.phase === 'running') this.lost(lease)
  }

  cancelRequested(lease: Lease): void {
    const { pool, options, log } = this.parts
    if (!lease.job || lease.job.interrupted !== undefined) return
    log('info', 'asked to stop', lease.claimed.fence.taskId)
    pool.interrupt(lease.job, 'cancelled', options.cancelGraceMs)
  }

  /** Stops what still runs; ended threads follow within `graceMs`. */
  interruptAll(graceMs: number): void {
    for (const lease of this.parts.book.all()) {
      if (lease.phase === 'running' && lease.job) this.parts.pool.interrupt(lease.job, 'shutdown', graceMs)
    }
  }

  private artifactOf({ claimed }: PoolJob, { name, contentType, bytes }: KeptFile): NewArtifact {
    const { artifactDir, artifactDays } = this.parts.options
    const path = artifactPath(artifactDir, claimed.fence.taskId, claimed.fence.attempt, name)
    return { name, contentType, bytes, host: hostname(), path, expiresInMs: artifactDays * dayMs }
  }

  private logFailure(settlement: Settlement): void {
    if (settlement.outcome !== 'RETRY' && settlement.outcome !== 'FAILED') return
    const { taskId, attempt } = settlement.fence
    const { code, message } = settlement.error
    const then =
      settlement.outcome === 'RETRY' ? `next attempt in ${(settlement.delayMs / 1000).toFixed(1)} s` : 'not tried again'
    const what = message.slice(0, 300).replace(/\.$/, '')
    this.parts.log('warn', `attempt ${attempt} failed, ${code}: ${what}; ${then}`, taskId)
  }
}

const hooked = ({ fence, type, owner }: ClaimedTask): HookedAttempt => ({ ...fence, type, owner })
