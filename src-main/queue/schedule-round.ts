import type { Clock } from '../kernel/index.ts'
import {
  advanceOf,
  failedSchedules,
  scheduleLimits,
  type ScheduleAdvance,
  type StoredSchedule,
  type SubmitTasks
} from './schedules.ts'
import type { ScheduleRound } from './task-store.ts'

/* One round of schedules, the same for both stores. */

export interface FoundSchedule<Row> {
  readonly row: Row
  readonly schedule: StoredSchedule
  /** By the database's clock, when the row was read (ms). */
  readonly nowMs: number
}

/** A store's schedules; each list has the longest due first and at most `scheduleLimits.perRound`. */
export interface ScheduleTable<Row> {
  /** Their next tick has come, and is on time. */
  onTime(): Promise<FoundSchedule<Row>[]>
  /** Written by another program, which leaves it to us to count the ticks. */
  uncounted(): Promise<FoundSchedule<Row>[]>
  /** Their next tick was missed: there may be many to count. */
  late(): Promise<FoundSchedule<Row>[]>
  /** Only when the row is as it was read. */
  write(row: Row, done: ScheduleAdvance): Promise<void>
  nextInMs(): Promise<number | null>
}

export interface RoundWork {
  readonly submit: SubmitTasks
  readonly clock: Clock
  /** Ends the round at the next row, or the next slice of counting: what it leaves is still due. */
  readonly stopped?: AbortSignal | undefined
}

/** For missed ticks in one round, after the first schedule that has some; counting those of one takes up to 2 s. */
const lateMs = 1_000

/**
 * One schedule after the other; one that fails does not keep the others from their ticks, and missed ticks, which can wait, do not keep those
 * that are on time: these come first in each round, and a round with much to count ends early. Throws what failed, when all have been tried.
 */
export async function runScheduleRound<Row>(table: ScheduleTable<Row>, work: RoundWork): Promise<ScheduleRound> {
  const round = new Round(table, work)
  const onTime = await round.advanceAll(await table.onTime())
  const uncounted = round.isStopped ? 0 : await round.advanceAll(await table.uncounted())
  // With more that is on time, the next round is for those.
  if (!round.isStopped) await round.advanceSome(await table.late(), onTime < scheduleLimits.perRound ? lateMs : 0)
  if (round.failures.length > 0) throw failedSchedules(round.failures)
  const isMore = round.isStopped || uncounted >= scheduleLimits.perRound
  return { submitted: round.submitted, nextInMs: isMore ? 0 : await table.nextInMs() }
}

class Round<Row> {
  readonly submitted: string[] = []
  readonly failures: { name: string; error: unknown }[] = []
  private readonly table: ScheduleTable<Row>
  private readonly work: RoundWork

  constructor(table: ScheduleTable<Row>, work: RoundWork) {
    this.table = table
    this.work = work
  }

  get isStopped(): boolean {
    return this.work.stopped?.aborted === true
  }

  /** Returns how many there were. */
  async advanceAll(found: readonly FoundSchedule<Row>[]): Promise<number> {
    for (const one of found) if (!this.isStopped) await this.advance(one)
    return found.length
  }

  /** At least one of them, and more for `ms`. Begins anywhere: one that always fails does not stand before the others, and schedulers do not all count the same. */
  async advanceSome(found: readonly FoundSchedule<Row>[], ms: number): Promise<void> {
    const { clock } = this.work
    const first = Math.floor(clock.random() * found.length)
    const from = clock.monotonic()
    for (const one of [...found.slice(first), ...found.slice(0, first)]) {
      if (this.isStopped) return
      await this.advance(one)
      if (clock.monotonic() - from >= ms) return
    }
  }

  private async advance({ row, schedule, nowMs }: FoundSchedule<Row>): Promise<void> {
    const { submit, clock, stopped } = this.work
    const giveWay = async (): Promise<void> => {
      await clock.sleep(0)
      stopped?.throwIfAborted()
    }
    try {
      const done = await advanceOf(schedule, nowMs, { submit, giveWay })
      await this.table.write(row, done)
      this.submitted.push(...done.submitted)
    } catch (error) {
      if (!stopped?.aborted || error !== stopped.reason) this.failures.push({ name: schedule.name, error })
    }
  }
}
