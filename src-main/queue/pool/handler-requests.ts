import { toAppError, type Clock } from '../../kernel/index.ts'
import type { RowSink } from '../row-sink.ts'
import type { AttemptNotes } from './attempt-notes.ts'
import { Backoff } from './backoff.ts'
import type { LeaseBook } from './lease-book.ts'
import type { PoolJob } from './pool-job.ts'
import type { ThreadRequest } from './pool-thread.ts'

export interface HandlerRequestsOptions {
  readonly clock: Clock
  readonly book: LeaseBook
  readonly notes: AttemptNotes
  readonly rowSink: RowSink | null
}

/** Does what running handlers ask for. Threads get no database session and no password: user code runs there. */
export class HandlerRequests {
  private readonly options: HandlerRequestsOptions

  constructor(options: HandlerRequestsOptions) {
    this.options = options
  }

  take(job: PoolJob, request: ThreadRequest): void {
    const { message } = request
    const { fence } = job.claimed
    const { notes, rowSink } = this.options
    if (message.kind === 'progress') return notes.progress(fence, message.progress)
    if (message.kind === 'log') return notes.log(fence, message.level, message.message)
    if (message.kind === 'checkpoint') {
      return this.answer(job, request, async () => {
        await notes.checkpoint(fence, job.progress, message.value)
        return 0
      })
    }
    if (rowSink === null) return request.refuse('ROWS_UNAVAILABLE', 'This worker has no table for imported rows.')
    if (message.kind === 'countRows') return this.answer(job, request, () => rowSink.count(message.importKey))
    this.answer(job, request, () => rowSink.insert(message.importKey, message.rows))
  }

  private answer(job: PoolJob, request: ThreadRequest, work: () => Promise<number>): void {
    this.untilLeaseEnds(job, work).then(
      (value) => request.reply(value),
      (error: unknown) => {
        const problem = toAppError(error)
        request.refuse(problem.code, problem.message)
      }
    )
  }

  /** A database that is away for a moment costs the handler time, not its attempt. All of this can be repeated. */
  private async untilLeaseEnds<T>(job: PoolJob, work: () => Promise<T>): Promise<T> {
    const { clock, book } = this.options
    const backoff = new Backoff(clock, { firstMs: 100, capMs: 2_000 })
    for (;;) {
      try {
        return await work()
      } catch (error) {
        const lease = book.find(job.claimed.fence)
        const pauseMs = backoff.next()
        const over = !lease || job.interrupted !== undefined || book.remainingMs(lease) < pauseMs
        if (toAppError(error).kind !== 'operational' || over) throw error
        await clock.sleep(pauseMs)
      }
    }
  }
}
