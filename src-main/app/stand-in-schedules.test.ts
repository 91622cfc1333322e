import { describe, expect, it } from 'vitest'
import { emptyReading, liveWorker } from '../kernel/reading.fixture.ts'
import { ManualClock } from '../queue/manual-clock.fixture.ts'
import type { ScheduleStore } from '../queue/task-store.ts'
import { StandInSchedules } from './stand-in-schedules.ts'

function setup(nextInMs: number | null) {
  const clock = new ManualClock()
  const rounds: number[] = []
  const store = {
    runSchedules: () => {
      rounds.push(clock.monotonic())
      return Promise.resolve({ submitted: ['t'], nextInMs })
    }
  } as unknown as ScheduleStore
  return { clock, rounds, store, schedules: new StandInSchedules(clock) }
}

describe('schedules while no worker lives', () => {
  it('are looked at when the next tick is due, and every ten seconds for new ones', async () => {
    for (const [nextInMs, at] of [
      [3_000, 3_100],
      [null, 10_100]
    ] as const) {
      const { clock, rounds, store, schedules } = setup(nextInMs)
      for (let time = 0; time <= 11_000; time += 100) {
        await schedules.run('a', emptyReading(), store)
        await clock.advance(100)
      }
      expect(rounds.slice(0, 2)).toEqual([0, at])
    }
  })

  it('are left to a worker that lives', async () => {
    const { rounds, store, schedules } = setup(0)
    expect(await schedules.run('a', emptyReading({ workers: [liveWorker({ status: 'quiet' })] }), store)).toBe(0)
    expect(rounds).toEqual([])
    expect(await schedules.run('a', emptyReading(), store)).toBe(1)
  })

  it('are tried again ten seconds after a failure', async () => {
    const { clock, store, schedules } = setup(0)
    const failing = { runSchedules: () => Promise.reject(new Error('away')) } as unknown as ScheduleStore
    await expect(schedules.run('a', emptyReading(), failing)).rejects.toThrow('away')
    await clock.advance(9_999)
    expect(await schedules.run('a', emptyReading(), store)).toBe(0)
    await clock.advance(1)
    expect(await schedules.run('a', emptyReading(), store)).toBe(1)
  })
})
