import { Cron } from 'croner'
import { describe, expect, it, vi } from 'vitest'
import { dueTicks, firstTick } from './cron-ticks.ts'

const at = (text: string): number => Date.parse(text)
const iso = (times: readonly number[]): string[] => times.map((time) => new Date(time).toISOString().slice(0, 19))

/** The next ticks, each counted anew from the last, as schedulers do. */
function next(cron: string, timeZone: string, after: string, count: number): string[] {
  const ticks: number[] = []
  for (let time = at(after); ticks.length < count; ticks.push(time)) time = firstTick({ cron, timeZone }, time)
  return iso(ticks)
}

describe('ticks at a change of the clocks (FAULTS 30, 31)', () => {
  it.each([
    ['30 2 * * *', ['2026-03-29T01:00:00', '2026-03-30T00:30:00']],
    ['0,30 2 * * *', ['2026-03-29T01:00:00', '2026-03-30T00:00:00']],
    ['15 30 2 * * *', ['2026-03-29T01:00:00', '2026-03-30T00:30:15']]
  ])('%s in the hour that is left out runs right after it, once', (cron, ticks) => {
    expect(next(cron, 'Europe/Berlin', '2026-03-28T12:00:00Z', 2)).toEqual(ticks)
  })

  it.each([
    ['30 2 * * *', ['2026-10-25T00:30:00', '2026-10-26T01:30:00']],
    ['0,30 2 * * *', ['2026-10-25T00:00:00', '2026-10-25T00:30:00', '2026-10-26T01:00:00']]
  ])('%s in the hour that comes twice runs once', (cron, ticks) => {
    expect(next(cron, 'Europe/Berlin', '2026-10-24T12:00:00Z', ticks.length)).toEqual(ticks)
  })

  it('a scheduler that starts between the two passes does not run it again', () => {
    expect(next('30 2 * * *', 'Europe/Berlin', '2026-10-25T00:31:00Z', 1)).toEqual(['2026-10-26T01:30:00'])
  })

  it('*/30 goes on in real time through both', () => {
    expect(next('*/30 * * * *', 'Europe/Berlin', '2026-10-25T00:00:00Z', 4)).toEqual([
      '2026-10-25T00:30:00',
      '2026-10-25T01:00:00',
      '2026-10-25T01:30:00',
      '2026-10-25T02:00:00'
    ])
    expect(next('*/30 * * * *', 'Europe/Berlin', '2026-03-29T00:30:00Z', 2)).toEqual([
      '2026-03-29T01:00:00',
      '2026-03-29T01:30:00'
    ])
  })

  it('half an hour of change is handled alike', () => {
    expect(next('15 2 * * *', 'Australia/Lord_Howe', '2026-10-03T00:00:00Z', 2)).toEqual([
      '2026-10-03T15:30:00',
      '2026-10-04T15:15:00'
    ])
  })
})

describe('missed ticks', () => {
  const timing = { cron: '* * * * *', timeZone: 'UTC' }
  const now = at('2026-05-01T12:00:30Z')
  const giveWay = (): Promise<void> => Promise.resolve()
  const due = (misfire: 'SKIP' | 'ONCE' | 'ALL', from: string) =>
    dueTicks({ ...timing, misfire }, { fromMs: at(from), nowMs: now, giveWay })

  it('that are less than a minute late are on time', async () => {
    expect(await due('SKIP', '2026-05-01T12:00:00Z')).toEqual({
      run: [at('2026-05-01T12:00:00Z')],
      missed: 0,
      nextAt: at('2026-05-01T12:01:00Z')
    })
  })

  it.each([
    ['SKIP', []],
    ['ONCE', ['2026-05-01T11:59:00']],
    ['ALL', ['2026-05-01T11:56:00', '2026-05-01T11:57:00', '2026-05-01T11:58:00', '2026-05-01T11:59:00']]
  ] as const)('are handled as %s says, and counted', async (misfire, madeUp) => {
    const { run, missed } = await due(misfire, '2026-05-01T11:56:00Z')
    expect(iso(run)).toEqual([...madeUp, '2026-05-01T12:00:00'])
    expect(missed).toBe(4)
  })

  it('are at most the newest 100, also after years of seconds, which are counted with pauses for others', async () => {
    let pauses = 0
    const pausing = (): Promise<void> => {
      pauses++
      return Promise.resolve()
    }
    const { run, missed, nextAt } = await dueTicks(
      { cron: '* * * * * *', timeZone: 'UTC', misfire: 'ALL' },
      { fromMs: at('2016-05-01T00:00:00Z'), nowMs: now, giveWay: pausing }
    )
    // One for each 25 of the 10,000 that are counted and the 161 that are kept.
    expect(pauses).toBeGreaterThanOrEqual(10_000 / 25)
    expect(run).toHaveLength(161)
    expect(run.at(-1)).toBe(now)
    expect(run[0]).toBe(now - 160_000)
    expect(missed).toBe(10_000 - 61)
    expect(nextAt).toBe(now + 1_000)
  })

  it.each([
    ['UTC', '2026-01-01T23:59:59'],
    ['Europe/Berlin', '2026-01-01T22:59:59']
  ])('are found behind months of silence after a dense time, in %s', async (timeZone, newest) => {
    const { run, missed } = await dueTicks(
      { cron: '* * * 1 1 *', timeZone, misfire: 'ONCE' },
      { fromMs: at('2023-12-31T23:00:00Z'), nowMs: now, giveWay }
    )
    expect(iso(run)).toEqual([newest])
    expect(missed).toBe(10_000)
  })

  it('are the same backwards as forwards, through changes of the clock', async () => {
    const timing = { cron: '0 */20 * * * *', timeZone: 'Europe/Berlin', misfire: 'ALL' as const }
    const range = { fromMs: at('2025-10-25T22:00:00Z'), nowMs: at('2025-10-26T06:00:00Z'), giveWay }
    const forwards = Array.from({ length: 25 }, (_, n) => range.fromMs + n * 20 * 60_000)
    expect((await dueTicks(timing, range)).run).toEqual(forwards)
  })

  it.each([
    ['2026-03-27T00:00:00Z', '2026-03-31T12:00:00Z', '2026-03-29T01:00:00'],
    ['2026-10-23T00:00:00Z', '2026-10-27T12:00:00Z', '2026-10-25T00:30:00']
  ])('of a fixed time are the same backwards as forwards, from %s to %s', async (from, to, atTheChange) => {
    const timing = { cron: '30 2 * * *', timeZone: 'Europe/Berlin', misfire: 'ALL' as const }
    const forwards = next(timing.cron, timing.timeZone, from, 5)
    expect(forwards).toContain(atTheChange)
    const { run, missed } = await dueTicks(timing, { fromMs: at(`${forwards[0]}Z`), nowMs: at(to), giveWay })
    expect(iso(run)).toEqual(forwards)
    expect(missed).toBe(5)
  })

  it('a tick that is the only one costs one look ahead and none back', async () => {
    const previousRuns = vi.spyOn(Cron.prototype, 'previousRuns')
    const nextRun = vi.spyOn(Cron.prototype, 'nextRun')
    try {
      const range = { fromMs: at('2026-05-01T12:00:00Z'), nowMs: now, giveWay }
      expect(await dueTicks({ ...timing, misfire: 'SKIP' }, range)).toMatchObject({ run: [range.fromMs], missed: 0 })
      expect(previousRuns).not.toHaveBeenCalled()
      expect(nextRun).toHaveBeenCalledTimes(1)
    } finally {
      vi.restoreAllMocks()
    }
  })

  it('the only one is late when it is, and the next one is told', async () => {
    const hourly = { cron: '0 * * * *', timeZone: 'UTC', misfire: 'SKIP' as const }
    const range = { fromMs: at('2026-05-01T12:00:00Z'), nowMs: at('2026-05-01T12:59:59Z'), giveWay }
    const nextAt = at('2026-05-01T13:00:00Z')
    expect(await dueTicks(hourly, range)).toEqual({ run: [], missed: 1, nextAt })
    expect(await dueTicks({ ...hourly, misfire: 'ONCE' }, range)).toEqual({ run: [range.fromMs], missed: 1, nextAt })
  })

  it('of a schedule that seldom ticks are found over a long outage', async () => {
    const yearly = { cron: '0 0 1 1 *', timeZone: 'UTC', misfire: 'ALL' as const }
    expect(iso((await dueTicks(yearly, { fromMs: at('2024-01-01T00:00:00Z'), nowMs: now, giveWay })).run)).toEqual([
      '2024-01-01T00:00:00',
      '2025-01-01T00:00:00',
      '2026-01-01T00:00:00'
    ])
  })
})
