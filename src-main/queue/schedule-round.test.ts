import { beforeEach, describe, expect, it } from 'vitest'
import { AppError, systemClock, type Clock, type NewTask } from '../kernel/index.ts'
import { runScheduleRound, type FoundSchedule, type ScheduleTable } from './schedule-round.ts'
import type { ScheduleRound } from './task-store.ts'
import type { ScheduleAdvance, StoredSchedule } from './schedules.ts'
import type { SubmitResult } from './task-store.ts'

const now = Date.parse('2026-05-01T12:00:30Z')
const minute = 60_000
const tick = now - 30_000
/** Counting gives way every 25 ticks. */
const sliceMs = 50

let time: number
let sliced: () => void
let submitted: string[]
let written: Map<string, ScheduleAdvance>
let away: Set<string>
let lists: Record<'onTime' | 'uncounted' | 'late', FoundSchedule<string>[]>

const clock: Clock = {
  ...systemClock,
  monotonic: () => time,
  random: () => 0,
  sleep: () => {
    time += sliceMs
    sliced()
    return Promise.resolve()
  }
}

beforeEach(() => {
  time = 0
  sliced = () => undefined
  submitted = []
  written = new Map()
  away = new Set()
  lists = { onTime: [], uncounted: [], late: [] }
})

/** Every minute. `nextAt` as the row has it. */
function found(name: string, nextAt: number | null): FoundSchedule<string> {
  const schedule: StoredSchedule = {
    ...{ name, cron: '* * * * *', timeZone: 'UTC', misfire: 'ONCE', enabled: true },
    task: JSON.stringify({ type: 't', payload: '{}' }),
    ...{ nextAt, lastTickAt: null, lastTaskId: null, missed: 0, problem: null }
  }
  return { row: name, schedule, nowMs: now }
}
const many = (name: string, count: number, nextAt: number | null) =>
  Array.from({ length: count }, (_, n) => found(`${name}${n}`, nextAt))

const table: ScheduleTable<string> = {
  onTime: () => Promise.resolve(lists.onTime),
  uncounted: () => Promise.resolve(lists.uncounted),
  late: () => Promise.resolve(lists.late),
  write: (row, done) => {
    written.set(row, done)
    return Promise.resolve()
  },
  nextInMs: () => Promise.resolve(7)
}

function submit([task]: readonly NewTask[]): Promise<SubmitResult[]> {
  const name = task?.idempotencyKey?.split(':').at(-1) ?? ''
  if (away.has(name)) return Promise.reject(new AppError('CONNECTION_LOST', 'operational', 'away'))
  submitted.push(name)
  return Promise.resolve([{ status: 'created', taskId: '1' }])
}

const run = (stopped?: AbortSignal): Promise<ScheduleRound> => runScheduleRound(table, { submit, clock, stopped })

describe('a round of schedules', () => {
  it('sees to what is on time and what has no tick yet before it counts missed ticks, and ends after a second of that', async () => {
    lists = {
      onTime: [found('now', tick)],
      uncounted: [found('new', null)],
      late: many('late', 50, tick - 200 * minute)
    }
    expect(await run()).toMatchObject({ nextInMs: 7 })
    expect([...written.keys()].slice(0, 3)).toEqual(['now', 'new', 'late0'])
    expect(submitted[0]).toBe('now')
    expect(written.size).toBeLessThan(10)
    expect(time).toBeLessThan(2_000)
    expect(written.get('late0')).toMatchObject({ missedMore: 200, nextAt: tick + minute })
  })

  it('gives missed ticks one schedule while there is more that is on time, never none', async () => {
    lists = { onTime: many('now', 100, tick), uncounted: [], late: many('late', 3, tick - 200 * minute) }
    await run()
    expect([...written.keys()].slice(100)).toEqual(['late0'])
  })

  it('is followed at once by another one while some have no tick yet', async () => {
    lists.uncounted = many('new', 100, null)
    expect(await run()).toEqual({ submitted: [], nextInMs: 0 })
    expect(written.size).toBe(100)
  })

  it('takes others with missed ticks first, next time, when one always fails', async () => {
    lists.late = many('late', 2, tick - 600 * minute)
    away.add('late0')
    await expect(run()).rejects.toMatchObject({ code: 'CONNECTION_LOST' })
    expect([...written.keys()]).toEqual([])
    await runScheduleRound(table, { submit, clock: { ...clock, random: () => 0.9 } })
    expect([...written.keys()]).toEqual(['late1'])
  })

  it('ends at the next slice when it is stopped: what it left is due as before, and no failure', async () => {
    const stop = new AbortController()
    lists = { onTime: [found('now', tick)], uncounted: [], late: many('late', 3, tick - 5_000 * minute) }
    sliced = () => void (time >= 10 * sliceMs && stop.abort())
    expect(await run(stop.signal)).toEqual({ submitted: ['t'], nextInMs: 0 })
    expect(time).toBe(10 * sliceMs)
    expect([...written.keys()]).toEqual(['now'])
  })

  it('does nothing when it was stopped before', async () => {
    lists = { onTime: [found('now', tick)], uncounted: [found('new', null)], late: [found('late', tick - minute)] }
    expect(await run(AbortSignal.abort())).toEqual({ submitted: [], nextInMs: 0 })
    expect(written.size).toBe(0)
  })
})
