import { beforeEach, describe, expect, it } from 'vitest'
import { AppError } from '../../kernel/index.ts'
import { ManualClock } from '../manual-clock.fixture.ts'
import type { ScheduleStore } from '../task-store.ts'
import { DatabaseState } from './database-state.ts'
import { ScheduleLoop } from './schedule-loop.ts'

describe('ScheduleLoop', () => {
  let clock: ManualClock
  let rounds: number[]
  let nextTick: number | null
  let failure: AppError | undefined
  let submitted: number
  let database: DatabaseState
  let loop: ScheduleLoop

  beforeEach(() => {
    clock = new ManualClock()
    rounds = []
    nextTick = null
    failure = undefined
    submitted = 0
    database = new DatabaseState(() => undefined)
    const store: Pick<ScheduleStore, 'runSchedules'> = {
      runSchedules: async () => {
        rounds.push(clock.monotonic())
        await Promise.resolve()
        if (failure) throw failure
        const nextInMs = nextTick === null ? null : Math.max(0, nextTick - clock.monotonic())
        const due = nextInMs === 0 ? 1 : 0
        if (due > 0) nextTick = null
        return { submitted: due > 0 ? ['tick'] : [], nextInMs: due > 0 ? null : nextInMs }
      }
    }
    const onSubmitted = (count: number): void => void (submitted += count)
    loop = new ScheduleLoop({ store: store as ScheduleStore, clock, database, onSubmitted })
  })

  it('wakes when the next tick is due', async () => {
    nextTick = 3_000
    loop.start()
    await clock.advance(5_000)
    expect(submitted).toBe(1)
    expect(rounds).toHaveLength(2)
    expect(rounds[1]).toBeGreaterThanOrEqual(3_000)
    expect(rounds[1]).toBeLessThanOrEqual(3_100)
  })

  it('looks for schedules of others every ten seconds', async () => {
    loop.start()
    await clock.advance(60_000)
    expect(rounds.length).toBeGreaterThanOrEqual(5)
    expect(rounds.length).toBeLessThanOrEqual(7)
  })

  it('goes on after the database was away', async () => {
    failure = new AppError('CONNECTION_LOST', 'operational', 'away')
    loop.start()
    await clock.advance(30_000)
    expect(database.code).toBe('CONNECTION_LOST')
    expect(rounds.length).toBeLessThan(15)
    failure = undefined
    nextTick = 31_000
    await clock.advance(20_000)
    expect([database.code, submitted]).toEqual(['ok', 1])
  })

  it('ends a round under way when it is stopped', async () => {
    let begun = (): void => undefined
    const running = new Promise<void>((resolve) => (begun = resolve))
    const counting: Pick<ScheduleStore, 'runSchedules'> = {
      runSchedules: (stopped) =>
        new Promise((resolve) => {
          stopped?.addEventListener('abort', () => resolve({ submitted: [], nextInMs: 0 }))
          begun()
        })
    }
    const onSubmitted = (): void => undefined
    const busy = new ScheduleLoop({ store: counting as ScheduleStore, clock, database, onSubmitted })
    busy.start()
    await clock.advance(1_000)
    await running
    await busy.stop()
    expect(database.code).toBe('ok')
  })

  it('ends when it is stopped', async () => {
    loop.start()
    await clock.advance(1_000)
    await loop.stop()
    const before = rounds.length
    await clock.advance(60_000)
    expect(rounds).toHaveLength(before)
  })
})
