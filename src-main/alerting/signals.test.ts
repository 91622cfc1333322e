import { describe, expect, it } from 'vitest'
import { alertSignals, enoughAttempts, type AlertSignal, type MetricName } from '../kernel/index.ts'
import { metricsOf, signalValue } from './signals.ts'

type Values = Partial<Record<MetricName, number>>
const valueOf = (signal: AlertSignal, now: Values, earlier: Values = {}): number | null =>
  signalValue(signal, { now: (metric) => now[metric], earlier: (metric) => earlier[metric] })

describe('the value of a signal', () => {
  it.each([
    ['oldestMs', { oldestMs: 7 }, 7],
    ['failureRate', { failureRate: 0.25, ended5m: 10 }, 0.25],
    ['failureRate', { failureRate: 0, ended5m: 1 }, 0],
    ['failureRate', { ended5m: 0 }, 0],
    ['poolUse', { poolUse: 0.9 }, 0.9],
    ['databaseUse', { databaseUse: 0.8 }, 0.8],
    ['claimP95', { claimP95: 210 }, 210],
    ['schedulesLate', { schedulesLate: 2 }, 2],
    ['workersSilent', { workersKnown: 5, workersAlive: 3 }, 2],
    ['growth', { in1m: 30, out1m: 50 }, -20],
    ['progressStopped', { 'depth.RUNNING': 4, out1m: 0 }, 4],
    ['progressStopped', { 'depth.RUNNING': 4, out1m: 1 }, 0],
    ['progressStopped', { 'depth.RUNNING': 0, out1m: 0 }, 0],
    ['blindMs', {}, 0]
  ] as const)('%s of %o is %d', (signal, values, expected) => {
    expect(valueOf(signal, values)).toBe(expected)
  })

  it('is unknown when a figure that it needs is missing or no number', () => {
    for (const signal of alertSignals.filter((of) => of !== 'blindMs')) expect(valueOf(signal, {})).toBeNull()
    expect(valueOf('workersSilent', { workersKnown: 5 })).toBeNull()
    expect(valueOf('growth', { in1m: 5 })).toBeNull()
    expect(valueOf('progressStopped', { 'depth.RUNNING': 3 })).toBeNull()
    expect(valueOf('oldestMs', { oldestMs: NaN })).toBeNull()
    expect(valueOf('failureRate', { failureRate: 0 })).toBeNull()
    expect(valueOf('failureRate', { ended5m: 3 })).toBeNull()
  })

  it('is unknown when too few attempts ended for a rate: their failures neither fire nor end anything', () => {
    expect(valueOf('failureRate', { failureRate: 1, ended5m: 9 })).toBeNull()
    expect(valueOf('failureRate', { failureRate: 1 / 9, ended5m: 9 })).toBeNull()
  })

  it('of a rise is the difference to five minutes before, and unknown without that', () => {
    expect(valueOf('recoveredRise', { recovered5m: 9 }, { recovered5m: 2 })).toBe(7)
    expect(valueOf('recoveredRise', { recovered5m: 2 }, { recovered5m: 9 })).toBe(-7)
    expect(valueOf('recoveredRise', { recovered5m: 9 })).toBeNull()
  })

  it('needs no other metric than those it names', () => {
    for (const signal of alertSignals) {
      const named = Object.fromEntries(metricsOf(signal).map((metric) => [metric, enoughAttempts])) as Values
      expect(valueOf(signal, named, named)).not.toBeNull()
    }
  })
})
