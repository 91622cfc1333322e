import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { alertLimits, alertSignals, type AlertRule } from '../kernel/index.ts'
import { AlertBench, high, low, oldestRule, points, tickMs } from './alerts.fixture.ts'

const minute = 60_000

let bench: AlertBench
beforeEach(() => {
  bench = new AlertBench()
})
afterEach(() => bench.end())

describe('rules', () => {
  beforeEach(() => bench.withoutDefaults())

  it('of a type watch that type alone', () => {
    const rule = bench.addRule({ type: 'mail', forMs: 0 })
    bench.read({ oldestMs: 900 })
    expect(bench.viewOf(rule.id).state).toBe('unknown')
    bench.clock.pass(tickMs)
    const read = [...points({ oldestMs: 1 }), ...points({ oldestMs: 900 }, 'mail'), ...points({ oldestMs: 1 }, 'sms')]
    bench.alerts.observe({ connectionId: 'local', at: bench.clock.now(), points: read })
    expect(bench.messages[0]?.firings[0]).toMatchObject({ type: 'mail', value: 900, above: 100, ruleId: rule.id })
  })

  it('say when they are pending and firing, with the value, and what happened in the week', () => {
    const rule = bench.addRule()
    bench.read(high, 3 * tickMs)
    const since = bench.clock.now() - 2 * tickMs
    expect(bench.viewOf(rule.id)).toMatchObject({ state: 'pending', since, value: 200, fired7d: 0 })
    bench.read(high, 3 * tickMs)
    expect(bench.viewOf(rule.id)).toMatchObject({ state: 'firing', since, fired7d: 1 })
    bench.read(low, 4 * tickMs)
    expect(bench.viewOf(rule.id)).toMatchObject({ state: 'quiet', since: null, value: 10, fired7d: 1 })
    bench.clock.pass(7 * 86_400_000)
    bench.read(low)
    expect(bench.viewOf(rule.id).fired7d).toBe(0)
  })

  it('say a change once, and nothing while only values change', () => {
    bench.addRule()
    bench.read(low)
    bench.changes.length = 0
    bench.read(low, minute)
    expect(bench.changes).toEqual([])
    bench.read(high, 3 * tickMs)
    expect(bench.changes).toEqual(['local'])
    bench.read(high, 10 * tickMs)
    expect(bench.changes).toEqual(['local', 'local'])
  })

  it('end all that they fired or waited for when the connection becomes another queue, and stay', () => {
    const rule = bench.addRule()
    bench.read(high, 6 * tickMs)
    expect(bench.viewOf(rule.id).state).toBe('firing')
    bench.alerts.moved('local')
    expect(bench.viewOf(rule.id)).toMatchObject({ state: 'unknown', since: null, fired7d: 1 })
    expect(bench.alerts.state('local').open).toEqual([])
    bench.read(high, 3 * tickMs)
    expect(bench.viewOf(rule.id).state).toBe('pending')
  })

  it('end what they fired for when they are switched off, removed or watch something else', () => {
    const changes: ((rule: AlertRule) => void)[] = [
      (rule) => bench.alerts.saveRule('local', rule.id, { ...rule, enabled: false }),
      (rule) => bench.alerts.removeRule('local', rule.id),
      (rule) => bench.alerts.saveRule('local', rule.id, { ...rule, type: 'mail' })
    ]
    for (const change of changes) {
      const rule = bench.addRule()
      bench.read(high, 6 * tickMs)
      expect(bench.openIncident().firings.at(-1)).toMatchObject({ ruleId: rule.id, resolvedAt: null })
      change(rule)
      expect(bench.alerts.state('local').open).toEqual([])
      expect(bench.messages.at(-1)).toMatchObject({ what: 'resolved', firings: [{ endedBy: 'rule' }] })
      bench.messages.length = 0
      bench.read(low, 10 * minute)
    }
  })

  it('fire on when their threshold changes, and are pending anew', () => {
    const rule = bench.addRule()
    bench.read(high, 5 * tickMs)
    bench.alerts.saveRule('local', rule.id, { ...rule, above: 150 })
    bench.read(high, 5 * tickMs)
    expect(bench.told()).toEqual([])
    bench.read(high)
    expect(bench.told()).toEqual(['fired oldestMs'])
    bench.alerts.saveRule('local', rule.id, { ...rule, above: 100 })
    expect(bench.openIncident().firings).toMatchObject([{ above: 150, resolvedAt: null }])
  })

  it('say what a changed default was, of which being off is no part', () => {
    const standardOf = (): unknown => bench.viewOf('default-claimP95').standard
    const rule = bench.viewOf('default-claimP95').rule
    bench.alerts.saveRule('local', rule.id, { ...rule, enabled: false })
    expect(standardOf()).toBeNull()
    bench.alerts.saveRule('local', rule.id, { ...rule, above: 900, enabled: false })
    expect(standardOf()).toMatchObject({ signal: 'claimP95', above: rule.above, enabled: false })
    bench.alerts.saveRule('local', rule.id, rule)
    expect(standardOf()).toBeNull()
    expect(bench.addRule() && bench.alerts.state('local').rules.at(-1)?.standard).toBeNull()
  })

  it('are refused when they are none, are too many, or are not there', () => {
    const refused = (work: () => void, code: string): void =>
      expect(work).toThrow(expect.objectContaining({ code, kind: 'user' }) as Error)
    refused(() => bench.addRule({ clearAt: 900 }), 'INVALID_INPUT')
    refused(() => bench.addRule({ signal: 'poolUse', type: 'mail' }), 'INVALID_INPUT')
    refused(() => bench.addRule({ signal: 'poolUse', above: 1, clearAt: 0 }), 'INVALID_INPUT')
    refused(() => bench.alerts.saveRule('local', 'none', oldestRule), 'NOT_FOUND')
    refused(() => bench.alerts.removeRule('local', 'none'), 'NOT_FOUND')
    const room = alertLimits.rulesPerConnection - alertSignals.length
    for (let n = 0; n < room; n++) bench.addRule()
    refused(() => bench.addRule(), 'LIMIT_REACHED')
    expect(bench.alerts.saveRule('other', null, oldestRule)).toMatchObject({ connectionId: 'other' })
  })
})

describe('blindness', () => {
  beforeEach(() => {
    bench.withoutDefaults()
    bench.alerts.removeRule('local', 'default-blindMs')
    bench.alerts.start()
  })

  it('fires without a reading, and resolves when readings come again', async () => {
    bench.read(low)
    await bench.clock.advance(minute)
    expect(bench.told()).toEqual([])
    await bench.clock.advance(10_000)
    expect(bench.told()).toEqual(['fired blindMs'])
    expect(bench.messages[0]?.firings[0]?.value).toBeGreaterThan(minute)
    for (let n = 0; n < 20; n++) {
      bench.read(low)
      await bench.clock.advance(0)
    }
    expect(bench.told()).toEqual(['fired blindMs', 'resolved blindMs'])
  })

  it('resolves though readings come only every half minute', async () => {
    bench.alerts.watch('local')
    await bench.clock.advance(70_000)
    for (let n = 0; n < 4; n++) {
      bench.read(low)
      await bench.clock.advance(28_000)
    }
    expect(bench.told()).toEqual(['fired blindMs', 'resolved blindMs'])
  })

  it('is one of connections that are watched and were never read, and of no others', async () => {
    bench.alerts.state('local')
    await bench.clock.advance(5 * minute)
    expect(bench.told()).toEqual([])
    bench.alerts.watch('local')
    await bench.clock.advance(5 * minute)
    expect(bench.told()).toEqual(['fired blindMs'])
  })

  it('ends when no readings are expected any more', async () => {
    bench.alerts.watch('local')
    await bench.clock.advance(70_000)
    bench.alerts.unwatch('local')
    expect(bench.messages.at(-1)).toMatchObject({ what: 'resolved', firings: [{ endedBy: 'rule' }] })
    await bench.clock.advance(5 * minute)
    expect(bench.messages).toHaveLength(2)
  })

  it('leaves nothing known of a connection from which no readings are expected', () => {
    const { id } = bench.addRule()
    bench.read(low)
    bench.alerts.unwatch('local')
    expect(bench.viewOf(id)).toMatchObject({ state: 'unknown', value: null })
    bench.read(low)
    expect(bench.viewOf(id)).toMatchObject({ state: 'quiet', value: 10 })
  })

  it('is previewed as what did fire, other rules of the incident left out', async () => {
    bench.addRule({ forMs: 0 })
    bench.read(high)
    await bench.clock.advance(70_000)
    expect(bench.openIncident().firings).toHaveLength(2)
    const history = { from: 0, to: bench.clock.now(), stepMs: minute, times: [], series: [] }
    const { rule } = bench.viewOf('default-blindMs')
    const { firings } = bench.alerts.preview('local', rule, history)
    expect(firings).toMatchObject([{ until: null, peak: bench.viewOf(rule.id).value }])
  })

  it('is none of a computer that slept', async () => {
    bench.read(low)
    bench.clock.pass(8 * 3_600_000)
    await bench.clock.advance(20_000)
    expect(bench.told()).toEqual([])
  })

  it('makes what was read unknown, and ends nothing that fires', async () => {
    const rule = bench.addRule({ forMs: 0 })
    bench.read(high)
    bench.changes.length = 0
    await bench.clock.advance(10 * minute)
    expect(bench.viewOf(rule.id)).toMatchObject({ state: 'firing', value: null })
    expect(bench.told().filter((told) => told.includes('oldestMs'))).toEqual(['fired oldestMs'])
    expect(bench.viewOf('default-blindMs')).toMatchObject({ state: 'firing' })
    bench.read(low, minute)
    expect(bench.viewOf(rule.id)).toMatchObject({ state: 'quiet', value: 10 })
  })
})
