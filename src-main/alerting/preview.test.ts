import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { AlertRuleDraft, MetricName } from '../kernel/index.ts'
import { AlertBench, monday, oldestRule, points, tickMs } from './alerts.fixture.ts'
import type { PreviewHistory } from './index.ts'
import { curvePoints, previewOf, replay } from './preview.ts'

const minute = 60_000
type Values = (number | null)[]

function historyOf(series: Partial<Record<MetricName, Values>>, stepMs = minute, type = ''): PreviewHistory {
  const length = Math.max(...Object.values(series).map((values) => values.length))
  const times = Array.from({ length }, (_, n) => monday + n * stepMs)
  return {
    ...{ from: monday, to: monday + length * stepMs, stepMs, times },
    series: Object.entries(series).map(([metric, values]) => ({ metric, type, values }))
  }
}
const rule: AlertRuleDraft = { ...oldestRule, forMs: 2 * minute, clearForMs: minute }
const repeated = (count: number, value: number | null): Values => Array.from({ length: count }, () => value)

describe('a preview', () => {
  it('shows when the rule would have fired, for how long, and how bad it was', () => {
    const oldestMs = [10, 200, 200, 300, 10, 10, 200, 10, 200, 200, 200]
    const { firings, values } = previewOf(rule, historyOf({ oldestMs }), [])
    const at = (n: number): number => monday + n * minute
    expect(firings).toEqual([
      { since: at(1), firedAt: at(3), until: at(5), peak: 300 },
      { since: at(8), firedAt: at(10), until: null, peak: 200 }
    ])
    expect(values).toEqual(oldestMs)
  })

  it('counts how often other settings would have fired', () => {
    const oldestMs = [
      ...repeated(3, 120),
      ...repeated(9, 10),
      ...repeated(10, 160),
      ...repeated(9, 10),
      ...repeated(3, 60)
    ]
    const { firings, variants } = previewOf(rule, historyOf({ oldestMs }), [])
    expect(firings).toHaveLength(2)
    expect(variants).toEqual([
      { above: 150, forMs: rule.forMs, fired: 1 },
      { above: 50, forMs: rule.forMs, fired: 3 },
      { above: 100, forMs: 5 * minute, fired: 1 }
    ])
  })

  it('offers other counts for a rule about any at all, and no share above one', () => {
    const tried = (changes: Partial<AlertRuleDraft>): number[] => {
      const { variants } = previewOf({ ...rule, ...changes }, historyOf({ poolUse: [1], schedulesLate: [1] }), [])
      return variants.map(({ above }) => above)
    }
    expect(tried({ signal: 'schedulesLate', above: 0, clearAt: 0 })).toEqual([1, 2, 0])
    expect(tried({ signal: 'poolUse', above: 0.9, clearAt: 0.8 })).toEqual([0.45, 0.9])
  })

  it('neither fires over a gap nor ends in it', () => {
    const gapped = [200, 200, ...repeated(60, null), 200, 200]
    expect(previewOf({ ...rule, forMs: 3 * minute }, historyOf({ oldestMs: gapped }), []).firings).toEqual([])
    const through = [...repeated(5, 200), ...repeated(60, null), 200, 10, 10]
    expect(previewOf(rule, historyOf({ oldestMs: through }), []).firings).toMatchObject([
      { until: monday + 67 * minute }
    ])
  })

  it('tells a figure that is missing from a moment at which nothing was read', () => {
    const failureRate = [0.5, 0.5, 0.5, ...repeated(60, null)]
    const share: AlertRuleDraft = { ...rule, signal: 'failureRate', above: 0.1, clearAt: 0.1 }
    const ended5m = failureRate.map((rate) => (rate === null ? null : 100))
    const unread = previewOf(share, historyOf({ failureRate, ended5m, depth: [1, 1, 1, ...repeated(60, null)] }), [])
    const read = previewOf(share, historyOf({ failureRate, ended5m, depth: repeated(63, 1) }), [])
    expect(unread.firings).toMatchObject([{ until: null }])
    expect(read.firings).toMatchObject([{ until: expect.any(Number) as number }])
  })

  it('takes a step for as long as it is, so that coarse history fires too', () => {
    const step = 15 * minute
    expect(previewOf(rule, historyOf({ oldestMs: [10, 200, 10] }, step), []).firings).toMatchObject([
      { since: monday + step, until: monday + 2 * step + minute * 15 }
    ])
  })

  it('reads the type of the rule alone', () => {
    const history = historyOf({ oldestMs: repeated(5, 200) }, minute, 'mail')
    expect(previewOf({ ...rule, type: 'mail' }, history, []).firings).toHaveLength(1)
    expect(previewOf({ ...rule, type: 'sms' }, history, [])).toMatchObject({ firings: [], values: repeated(5, null) })
  })

  it('takes a type for idle where the whole queue is, and for unknown where others work', () => {
    const trouble = [...repeated(5, 200), ...repeated(60, null)]
    const of = (whole: number): PreviewHistory => {
      const own = historyOf({ oldestMs: trouble }, minute, 'mail')
      const queue = historyOf({ oldestMs: [...repeated(5, 200), ...repeated(60, whole)], depth: repeated(65, 1) })
      return { ...own, series: [...own.series, ...queue.series] }
    }
    const mail = { ...rule, type: 'mail' }
    expect(previewOf(mail, of(0), []).firings).toMatchObject([{ until: monday + 6 * minute }])
    expect(previewOf(mail, of(300), []).firings[0]?.until).toBeGreaterThan(monday + 30 * minute)
  })

  it('finds a rise against five minutes before', () => {
    const recovered5m = [0, 0, 0, 0, 0, 9, 9, 9, 9, 9, 9, 9]
    const rise: AlertRuleDraft = { ...rule, signal: 'recoveredRise', above: 5, clearAt: 0 }
    const { values, firings } = previewOf(rise, historyOf({ recovered5m }), [])
    expect(values).toEqual([...repeated(5, null), 9, 9, 9, 9, 9, 0, 0])
    expect(firings).toMatchObject([{ since: monday + 5 * minute, until: monday + 11 * minute }])
  })

  it('of blindness shows what did fire, as history cannot tell it from an app that was closed', () => {
    const fired = { since: monday, firedAt: monday + 1, resolvedAt: monday + 2, peak: 70_000 }
    const blind: AlertRuleDraft = { ...rule, signal: 'blindMs', above: minute, clearAt: minute }
    const about = {
      id: 'f',
      ruleId: 'r',
      signal: 'blindMs',
      type: '',
      above: minute,
      value: 0,
      silenced: false
    } as const
    const preview = previewOf(blind, historyOf({ depth: [1, null, null, 1] }), [{ ...about, ...fired }])
    expect(preview).toMatchObject({
      values: [0, null, null, 0],
      firings: [{ since: monday, firedAt: monday + 1, until: monday + 2, peak: 70_000 }],
      variants: []
    })
  })

  it('of a week of minutes takes well under 200 ms, and its curve keeps the peaks', () => {
    const length = 7 * 24 * 60
    const oldestMs = Array.from({ length }, (_, n) => (n % 500 < 5 ? 200 : 10))
    const history = historyOf({ oldestMs })
    // Processor time, the best of some, as others may have the machine: some 30 ms on a quiet one.
    const took = Array.from({ length: 8 }, () => {
      const begun = process.cpuUsage()
      previewOf(rule, history, [])
      const { user, system } = process.cpuUsage(begun)
      return (user + system) / 1_000
    })
    expect(Math.min(...took)).toBeLessThan(200)
    const { firings, times, values, stepMs } = previewOf(rule, history, [])
    expect(firings).toHaveLength(Math.ceil(length / 500))
    expect(times.length).toBe(values.length)
    expect(times.length).toBeLessThanOrEqual(curvePoints)
    expect(stepMs * times.length).toBeGreaterThanOrEqual(7 * 86_400_000)
    expect(values.filter((value) => value === 200).length).toBeGreaterThanOrEqual(firings.length)
  })
})

describe('the same points', () => {
  const value = fc.constantFrom(10, 75, 200, 200, null)
  const part = fc.record({
    value,
    ticks: fc.integer({ min: 1, max: 12 }),
    pauseMs: fc.constantFrom(0, 0, 0, 20_000, 400_000, -9_000)
  })

  it('give the firings in a replay that they gave live, and a rule has never two open', async () => {
    const property = fc.asyncProperty(fc.array(part, { maxLength: 30 }), async (parts) => {
      const bench = new AlertBench()
      const { id } = bench.addRule({ repeatMs: null })
      const samples: { at: number; value: number | null }[] = []
      for (const { value, ticks, pauseMs } of parts) {
        bench.clock.jump(pauseMs)
        for (let n = 0; n < ticks; n++) {
          bench.clock.pass(tickMs)
          const at = bench.clock.now()
          samples.push({ at, value })
          bench.alerts.observe({ connectionId: 'local', at, points: points(value === null ? {} : { oldestMs: value }) })
          const open = bench.alerts.state('local').open.flatMap(({ firings }) => firings)
          expect(open.filter(({ resolvedAt }) => resolvedAt === null).length).toBeLessThanOrEqual(1)
        }
      }
      const incidents = bench.alerts.incidents('local', { from: 0, to: Infinity })
      const live = incidents.flatMap(({ firings }) => firings).filter(({ ruleId }) => ruleId === id)
      const stretches = live.map(({ since, firedAt, resolvedAt, peak }) => ({
        since,
        firedAt,
        until: resolvedAt,
        peak
      }))
      const byTime = (a: { firedAt: number | null }, b: { firedAt: number | null }): number =>
        (a.firedAt ?? 0) - (b.firedAt ?? 0)
      expect(stretches.sort(byTime)).toEqual(replay(oldestRule, samples).sort(byTime))
      await bench.end()
    })
    await fc.assert(property, { numRuns: 40 })
  })
})
