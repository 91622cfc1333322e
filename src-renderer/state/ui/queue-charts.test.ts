import { describe, expect, it } from 'vitest'
import type { MetricName } from '@contract'
import { ringOf } from '../series-ring.ts'
import { queueCharts, type QueueChart, type QueueChartsInput } from './queue-charts.ts'

const times = [0, 10_000, 20_000]
const ring = (series: Partial<Record<MetricName, (number | null)[]>>, type = '') =>
  ringOf(
    {
      ...{ connectionId: 'local', seq: 1, from: 0, to: 20_000, stepMs: 10_000, reading: null, times },
      series: Object.entries(series).map(([metric, values]) => ({ metric, type, values }))
    },
    20_000
  )
const chart = (key: QueueChart['key'], more: Partial<QueueChartsInput>): QueueChart =>
  queueCharts({
    ...{ ring: null, type: '', theme: 'light', at: 20_000, earlier: null, untold: new Set<string>() },
    limits: { oldestMs: 300_000, failureRate: 0.1 },
    t: (wanted, named) => [wanted, ...Object.values(named ?? {})].join(' '),
    ...more
  }).find((one) => one.key === key)!
const read = ({ readouts }: QueueChart): string[] => readouts.map(({ name, value }) => `${name} ${value}`)

describe('the charts of a queue', () => {
  it('read out the moment nearest to the cursor, and nothing without series', () => {
    const known = ring({ in1m: [1, 2, 3], out1m: [4, 5, 6] })
    expect(read(chart('throughput', { ring: known, at: 11_000 }))).toEqual(['charts.in 2', 'charts.out 5'])
    expect(read(chart('throughput', { ring: known }))).toEqual(['charts.in 3', 'charts.out 6'])
    expect(read(chart('throughput', {}))).toEqual(['charts.in –', 'charts.out –'])
  })

  it('are of one type alone where one is asked for', () => {
    const known = ring({ in1m: [1, 2, 3] }, 'mail')
    expect(read(chart('throughput', { ring: known, type: 'mail' }))[0]).toBe('charts.in 3')
    expect(read(chart('throughput', { ring: known }))[0]).toBe('charts.in –')
  })

  it('leave out what the table never tells', () => {
    const keys = (...untold: string[]): string[] =>
      queueCharts({
        ...{ ring: null, type: '', theme: 'light', at: 20_000, earlier: null, untold: new Set(untold) },
        ...{ limits: { oldestMs: 300_000, failureRate: 0.1 }, t: (wanted) => wanted }
      }).map(({ key }) => key)
    expect(keys('durations', 'retries')).toEqual(['depth', 'throughput', 'oldest', 'rates'])
    expect(keys('durations', 'submitted', 'ended')).toEqual(['depth', 'throughput', 'oldest'])
    expect(keys('submitted', 'finished')).not.toContain('throughput')
    const rates = chart('rates', { untold: new Set(['retries']) })
    expect(read(rates)).toEqual(['charts.failed –'])
    expect(rates.lines).toHaveLength(1)
  })

  it('name the rare states only when there are any', () => {
    const usual = ring({ 'depth.QUEUED': [1, 1, 1], 'depth.PAUSED': [0, 0, 0] })
    expect(chart('depth', { ring: usual }).readouts).toHaveLength(3)
    const paused = ring({ 'depth.QUEUED': [1, 1, 1], 'depth.PAUSED': [0, 2, 0] })
    expect(read(chart('depth', { ring: paused })).at(-1)).toBe('states.PAUSED 0')
  })

  it('say that too few attempts ended for a rate, and raise no alarm for it', () => {
    const few = chart('rates', { ring: ring({ failureRate: [0.02, 0.5, 1], ended5m: [100, 20, 4] }) })
    expect(few.note).toEqual({ text: 'charts.tooFew 4', tone: 'plain' })
    expect(few.readouts[0]).toMatchObject({ value: '–', tone: 'plain' })
    expect(few.lines[0]?.data.at(-1)).toEqual([20_000, null])
    const enough = chart('rates', { at: 10_000, ring: ring({ failureRate: [0, 0.5, 1], ended5m: [9, 20, 4] }) })
    expect(enough.readouts[0]).toMatchObject({ tone: 'bad' })
  })

  it('have the earlier values beside those of now', () => {
    const earlier = { ring: ring({ oldestMs: [7_000, 8_000, 9_000] }), name: 'yesterday', shortName: '-1 d' }
    const compared = chart('oldest', { ring: ring({ oldestMs: [0, 0, 400_000] }), earlier })
    expect(compared.lines.map(({ name }) => name)).toEqual(['charts.oldest', 'yesterday'])
    expect(compared.readouts).toMatchObject([{ name: '-1 d', value: '9.0\u2009s' }, { tone: 'bad' }])
  })
})
