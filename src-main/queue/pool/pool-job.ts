import type { Progress } from '../../kernel/index.ts'
import type { ClaimedTask } from '../task-store.ts'
import type { ThreadEnd } from './handler-thread-link.ts'
import type { InterruptReason } from './handler.ts'
import { threadLimits, type FromThread, type HandedTask, type ThreadOutcome } from './protocol.ts'

export interface KeptFile {
  readonly name: string
  readonly contentType: string
  readonly bytes: number
}

/** How an execution ended, as the pool saw it. */
export type JobEnd =
  | ThreadOutcome
  | { readonly status: 'thread-ended'; readonly end: ThreadEnd }
  /** Interrupted before a thread started it. */
  | { readonly status: 'unstarted' }

/** One for all: making one for each task took 27 us of the worker's time. */
const jobEnded = new Error('the job ended')

/** One claimed task on its way through the pool. */
export class PoolJob {
  readonly claimed: ClaimedTask
  /** The first reason that it was asked to stop for; a lost lease replaces any other. */
  interrupted: InterruptReason | undefined
  progress: Progress | undefined
  readonly files: KeptFile[] = []
  /** It has ended, however. */
  isDone = false
  /** Monotonic ms. */
  readonly queuedAt: number

  private readonly watched: boolean
  private ending: AbortController | undefined

  constructor(claimed: ClaimedTask, queuedAt: number, watched = false) {
    this.claimed = claimed
    this.queuedAt = queuedAt
    this.watched = watched || claimed.timeoutMs !== null
  }

  /** Ends the timers that watch this job. Made when one does: nearly no job has any. */
  get done(): AbortSignal {
    this.ending ??= new AbortController()
    if (this.isDone) this.ending.abort(jobEnded)
    return this.ending.signal
  }

  finish(): void {
    this.isDone = true
    this.ending?.abort(jobEnded)
  }

  note(message: Extract<FromThread, { kind: 'progress' | 'artifact' | 'ended' }>): void {
    if (message.kind !== 'artifact') this.progress = message.progress ?? this.progress
    else if (this.files.length < threadLimits.artifacts) this.files.push(message)
  }

  handed(handover: number): HandedTask {
    const { fence, type, payload, idempotencyKey, checkpoint } = this.claimed
    return {
      handover,
      taskId: fence.taskId,
      attempt: fence.attempt,
      type,
      payload,
      idempotencyKey,
      checkpoint,
      watched: this.watched
    }
  }
}
