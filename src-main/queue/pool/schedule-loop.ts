import type { Clock } from '../../kernel/index.ts'
import type { ScheduleStore } from '../task-store.ts'
import { Backoff } from './backoff.ts'
import type { DatabaseState } from './database-state.ts'
import { PacedLoop } from './paced-loop.ts'

export interface ScheduleLoopOptions {
  readonly store: ScheduleStore
  readonly clock: Clock
  readonly database: DatabaseState
  readonly onSubmitted: (count: number) => void
}

/** A schedule that another process made is seen within this: well before its tick counts as missed. */
const longestScheduleWaitMs = 10_000
/** Never sooner again than this, or a tick that stays due would be asked for without end. */
const shortestWaitMs = 50
/** Processes that wake for one tick do so one after the other: the later ones find it done. */
const spreadMs = 50

/** How long to wait before the schedules are looked at again. */
export function scheduleWaitMs(nextInMs: number | null, clock: Clock): number {
  const wait = Math.max(shortestWaitMs, nextInMs ?? longestScheduleWaitMs)
  return Math.min(longestScheduleWaitMs, wait) + spreadMs * clock.random()
}

/** Submits the tasks of schedules when they are due. Every worker runs it: the store sees to one task a tick. */
export class ScheduleLoop {
  private readonly options: ScheduleLoopOptions
  private readonly backoff: Backoff
  private readonly loop: PacedLoop

  constructor(options: ScheduleLoopOptions) {
    this.options = options
    const { clock } = options
    this.loop = new PacedLoop({
      clock,
      firstPauseMs: spreadMs * clock.random(),
      round: (stopped) => this.round(stopped)
    })
    this.backoff = new Backoff(options.clock, { firstMs: 500, capMs: longestScheduleWaitMs })
  }

  start(): void {
    this.loop.start()
  }

  stop(): Promise<void> {
    return this.loop.stop()
  }

  private async round(stopped: AbortSignal): Promise<number> {
    const { store, clock, database, onSubmitted } = this.options
    try {
      const { submitted, nextInMs } = await store.runSchedules(stopped)
      database.succeeded('schedules')
      this.backoff.reset()
      if (submitted.length > 0) onSubmitted(submitted.length)
      return scheduleWaitMs(nextInMs, clock)
    } catch (error) {
      database.failed('schedules', error)
      return this.backoff.next()
    }
  }
}
