import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { groupMs } from '../kernel/index.ts'
import { AlertBench, high, low, oldestRule, points, poolRule, tickMs } from './alerts.fixture.ts'

const minute = 60_000

let bench: AlertBench
beforeEach(() => {
  bench = new AlertBench()
})
afterEach(() => bench.end())

describe('incidents', () => {
  beforeEach(() => bench.withoutDefaults())

  it('are one for what overlaps or follows soon, with one message a change', () => {
    const rules = [bench.addRule({ forMs: 0, clearForMs: 0 }), bench.addRule({ ...poolRule, forMs: 0, clearForMs: 0 })]
    bench.read({ oldestMs: 200, poolUse: 1 })
    expect(bench.told()).toEqual(['fired oldestMs+poolUse'])
    bench.read({ oldestMs: 10, poolUse: 1 })
    expect(bench.openIncident().firings.map(({ resolvedAt }) => resolvedAt === null)).toEqual([false, true])
    bench.read({ oldestMs: 10, poolUse: 0 })
    expect(bench.told()).toEqual(['fired oldestMs+poolUse', 'resolved oldestMs+poolUse'])
    bench.read(low, groupMs - tickMs)
    bench.read(high)
    const first = bench.openIncident()
    expect(first.firings.map(({ ruleId }) => ruleId)).toEqual([rules[0]?.id, rules[1]?.id, rules[0]?.id])
    bench.read(low, groupMs + 2 * tickMs)
    bench.read(high)
    expect(bench.openIncident().id).not.toBe(first.id)
    const { alerts, clock } = bench
    expect(alerts.incidents('local', { from: 0, to: clock.now() }).map(({ firings }) => firings.length)).toEqual([1, 3])
    expect(alerts.incidents('local', { from: clock.now(), to: clock.now() })).toHaveLength(1)
    expect(alerts.incident(first.id)).toMatchObject({ id: first.id, resolvedAt: first.openedAt + groupMs + 3 * tickMs })
  })

  it('of two connections stay apart', () => {
    bench.addRule({ forMs: 0 })
    bench.withoutDefaults('shop').alerts.saveRule('shop', null, { ...oldestRule, forMs: 0 })
    bench.read(high)
    bench.read(high, tickMs, 'shop')
    expect(bench.messages.map(({ connectionId }) => connectionId)).toEqual(['local', 'shop'])
    expect(bench.alerts.state('shop').open).toHaveLength(1)
    expect(bench.alerts.incidents('shop', { from: 0, to: Infinity })).toHaveLength(1)
  })

  it('end with the last of their firings, not before they fired though the clock went back', () => {
    bench.addRule({ forMs: 0, clearForMs: 0 })
    bench.read(high)
    const { openedAt } = bench.openIncident()
    bench.clock.jump(-86_400_000)
    bench.read(low, 2 * tickMs)
    expect(bench.told()).toEqual(['fired oldestMs', 'resolved oldestMs'])
    expect(bench.messages[1]?.incident).toMatchObject({ openedAt, resolvedAt: openedAt })
  })

  it('that were acknowledged are not repeated, and tell what fires anew', () => {
    bench.addRule()
    bench.addRule(poolRule)
    bench.read(high, 6 * tickMs)
    const { id } = bench.openIncident()
    bench.alerts.acknowledge('local', id, { by: 'ada', note: 'on it' })
    expect(bench.openIncident().acknowledged).toEqual({ at: bench.clock.now(), by: 'ada', note: 'on it' })
    bench.read(high, 5 * minute)
    expect(bench.told()).toEqual(['fired oldestMs'])
    bench.read({ oldestMs: 200, poolUse: 1 }, 6 * tickMs)
    expect(bench.told()).toEqual(['fired oldestMs', 'fired poolUse'])
    // Nobody has seen the rule that fires now.
    expect(bench.openIncident().acknowledged).toBeNull()
    const unknown = expect.objectContaining({ code: 'NOT_FOUND' }) as Error
    expect(() => bench.alerts.acknowledge('shop', id, { by: 'ada', note: '' })).toThrow(unknown)
    expect(() => bench.alerts.acknowledge('local', 'none', { by: 'ada', note: '' })).toThrow(unknown)
  })

  it('stay acknowledged while the same rule fires again', () => {
    bench.addRule({ forMs: 0, clearForMs: 0 })
    bench.read(high)
    bench.alerts.acknowledge('local', bench.openIncident().id, { by: 'ada', note: '' })
    bench.read(low, minute)
    bench.read(high)
    expect(bench.openIncident()).toMatchObject({ acknowledged: { by: 'ada' }, firings: [{}, { resolvedAt: null }] })
  })

  it('are repeated for all that fires, in the interval of their rule', () => {
    bench.addRule({ repeatMs: minute, forMs: 0 })
    bench.addRule({ ...poolRule, repeatMs: null, forMs: 0 })
    bench.read({ oldestMs: 200, poolUse: 1 }, minute)
    expect(bench.told()).toEqual(['fired oldestMs+poolUse'])
    bench.read({ oldestMs: 200, poolUse: 1 }, minute)
    expect(bench.told().slice(1)).toEqual(['repeated oldestMs+poolUse'])
    bench.read({ oldestMs: 10, poolUse: 1 }, 10 * minute)
    expect(bench.told().slice(2)).toEqual([])
  })

  it('are not repeated for a value that is not known now', () => {
    bench.addRule({ forMs: 0 })
    bench.read(high)
    bench.read({ poolUse: 0 }, 5 * minute)
    expect(bench.told()).toEqual(['fired oldestMs'])
    bench.read(high)
    expect(bench.told()).toEqual(['fired oldestMs', 'repeated oldestMs'])
  })

  it('name the type that makes a figure of the whole queue so, as long as that is known', () => {
    const observe = (oldestMs: number): void => {
      bench.clock.pass(tickMs)
      const read = [...points({ oldestMs }), ...points({ oldestMs }, 'mail'), ...points({ oldestMs: 1 }, 'sms')]
      bench.alerts.observe({ connectionId: 'local', at: bench.clock.now(), points: read })
    }
    bench.addRule({ forMs: 0, clearForMs: 0 })
    bench.addRule({ forMs: 0, clearForMs: 0, type: 'mail' })
    observe(200)
    const worst = (): unknown => bench.messages.at(-1)?.firings.map((one) => [one.type, one.worst])
    const mail = { type: 'mail', value: 200 }
    expect(worst()).toEqual([
      ['', mail],
      ['mail', null]
    ])
    expect(bench.alerts.firingNow('local')[0]?.firings[0]?.worst).toEqual(mail)
    bench.alerts.unwatch('local')
    expect(bench.alerts.firingNow('local')[0]?.firings[0]?.worst).toBeNull()
    observe(1)
    expect(worst()).toEqual([
      ['', null],
      ['mail', null]
    ])
  })

  it('say since when the oldest task waits too long by its age, also of the time before anybody looked', () => {
    bench.addRule({ forMs: 0, clearForMs: 0 })
    bench.read({ oldestMs: 900_000 })
    const [message] = bench.messages
    expect(message?.firings[0]?.since).toBe((message?.at ?? 0) - 900_000 + 100)
  })

  it('are told to somebody new with all that fires, but for what is silenced, in hand or over', () => {
    const newcomer = (): string[] =>
      bench.alerts
        .firingNow('local')
        .map(({ what, firings }) => `${what} ${firings.map((one) => one.signal).join('+')}`)
    const rules = [bench.addRule({ forMs: 0, clearForMs: 0 }), bench.addRule({ ...poolRule, forMs: 0, clearForMs: 0 })]
    bench.read(high)
    bench.read({ oldestMs: 200, poolUse: 1 })
    expect(newcomer()).toEqual(['fired oldestMs+poolUse'])
    const hour = { connectionId: 'local', durationMs: 3_600_000, reason: 'known', by: 'ada' }
    const { id } = bench.alerts.silence({ ...hour, ruleId: rules[0]?.id ?? '' })
    expect(newcomer()).toEqual(['fired poolUse'])
    bench.alerts.unsilence('local', id)
    bench.alerts.acknowledge('local', bench.openIncident().id, { by: 'ada', note: '' })
    expect(newcomer()).toEqual([])
    bench.read(low)
    expect(newcomer()).toEqual([])
  })

  it('that end because their figure is gone say so', () => {
    bench.addRule({ forMs: 0, repeatMs: null })
    bench.read(high)
    bench.read({ poolUse: 0 }, 31 * minute)
    expect(bench.messages.at(-1)).toMatchObject({ what: 'resolved', firings: [{ endedBy: 'unknown', value: 200 }] })
  })

  it('that go on for long are followed by another one', () => {
    bench.addRule({ ...poolRule, forMs: 0 })
    bench.addRule({ forMs: 0, clearForMs: 0 })
    for (let n = 0; n < 250; n++) {
      bench.read({ oldestMs: 200, poolUse: 1 })
      bench.read({ oldestMs: 10, poolUse: 1 })
    }
    const sizes = bench.alerts.incidents('local', { from: 0, to: Infinity }).map(({ firings }) => firings.length)
    expect(sizes.reduce((sum, size) => sum + size)).toBe(251)
    expect(Math.max(...sizes)).toBe(200)
  })
})
