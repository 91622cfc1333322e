import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { alertSignals, limitsBy, usualLimits, type MetricName } from '../kernel/index.ts'
import { AlertBench, tickMs } from './alerts.fixture.ts'

const minute = 60_000

let bench: AlertBench
beforeEach(() => {
  bench = new AlertBench()
})
afterEach(() => bench.end())

describe('the default rules', () => {
  it('are there for every connection, one of each signal, unknown before a reading', () => {
    const { rules, open } = bench.alerts.state('shop')
    expect(rules.map(({ rule }) => rule.signal)).toEqual(alertSignals)
    expect(new Set(rules.map(({ state }) => state))).toEqual(new Set(['unknown']))
    expect(rules.every(({ rule }) => rule.isDefault && rule.enabled && rule.connectionId === 'shop')).toBe(true)
    expect(open).toEqual([])
  })

  it('are what pages take for usual', () => {
    expect(limitsBy(bench.alerts.state('shop').rules)('')).toEqual(usualLimits)
  })

  const trouble: [string, Partial<Record<MetricName, number>>][] = [
    ['oldestMs', { oldestMs: 301_000 }],
    ['failureRate', { failureRate: 0.11 }],
    ['workersSilent', { workersKnown: 2, workersAlive: 1 }],
    ['poolUse', { poolUse: 0.95 }],
    ['databaseUse', { databaseUse: 0.85 }],
    ['claimP95', { claimP95: 250 }],
    ['progressStopped', { 'depth.RUNNING': 3, out1m: 0 }],
    ['growth', { in1m: 100, out1m: 50 }],
    ['schedulesLate', { schedulesLate: 1 }]
  ]
  const calm: Partial<Record<MetricName, number>> = {
    ...{ oldestMs: 0, failureRate: 0, ended5m: 100, recovered5m: 0, workersKnown: 2, workersAlive: 2, poolUse: 0.1 },
    ...{ databaseUse: 0.1, claimP95: 5, 'depth.RUNNING': 1, in1m: 10, out1m: 10, schedulesLate: 0 }
  }

  it.each(trouble)('%s fires in its time and not before, and resolves when all is well', (signal, values) => {
    const { rule } = bench.viewOf(`default-${signal}`)
    bench.read(calm)
    bench.read({ ...calm, ...values }, rule.forMs)
    expect(bench.told()).toEqual([])
    bench.read({ ...calm, ...values })
    expect(bench.told()).toEqual([`fired ${signal}`])
    bench.read(calm, rule.clearForMs)
    expect(bench.told()).toHaveLength(1)
    bench.read(calm)
    expect(bench.told()).toEqual([`fired ${signal}`, `resolved ${signal}`])
  })

  it('recoveredRise compares with five minutes before, and is unknown until then', () => {
    bench.read({ recovered5m: 50 }, 5 * minute)
    expect(bench.viewOf('default-recoveredRise')).toMatchObject({ state: 'unknown', value: null })
    bench.read({ recovered5m: 50 })
    expect(bench.viewOf('default-recoveredRise')).toMatchObject({ state: 'quiet', value: 0 })
    bench.read({ recovered5m: 60 }, 2 * minute + tickMs)
    expect(bench.told()).toEqual(['fired recoveredRise'])
    expect(bench.viewOf('default-recoveredRise').value).toBe(10)
    // Ten more every five minutes is no rise any more.
    bench.read({ recovered5m: 60 }, 15 * minute)
    expect(bench.told()).toEqual(['fired recoveredRise', 'resolved recoveredRise'])
  })

  it('recoveredRise compares with nothing that is much older than five minutes', () => {
    bench.read({ recovered5m: 50 }, 6 * minute)
    bench.clock.pass(8 * minute)
    bench.read({ recovered5m: 60 }, minute)
    expect(bench.viewOf('default-recoveredRise')).toMatchObject({ state: 'unknown', value: null })
  })

  it('recoveredRise compares with nothing from before the clock went back', () => {
    bench.read({ recovered5m: 50 }, 6 * minute)
    bench.clock.jump(-3 * minute)
    bench.read({ recovered5m: 60 }, 5 * minute)
    expect(bench.viewOf('default-recoveredRise')).toMatchObject({ state: 'unknown', value: null })
    bench.read({ recovered5m: 60 })
    expect(bench.viewOf('default-recoveredRise')).toMatchObject({ state: 'quiet', value: 0 })
  })

  it('can be changed, switched off, and set back', () => {
    const { rule } = bench.viewOf('default-oldestMs')
    bench.alerts.saveRule('local', rule.id, { ...rule, above: 1_000, clearAt: 500, enabled: false })
    expect(bench.viewOf(rule.id).rule).toMatchObject({ above: 1_000, enabled: false, isDefault: true })
    bench.read({ oldestMs: 900_000 }, 5 * minute)
    expect(bench.told()).toEqual([])
    bench.alerts.removeRule('local', rule.id)
    expect(bench.viewOf(rule.id).rule).toEqual(rule)
    expect(bench.viewOf(rule.id).state).toBe('unknown')
  })

  it('keep what they watch', () => {
    const { rule } = bench.viewOf('default-growth')
    expect(() => bench.alerts.saveRule('local', rule.id, { ...rule, type: 'mail' })).toThrow(
      expect.objectContaining({ code: 'INVALID_INPUT' }) as Error
    )
  })
})
