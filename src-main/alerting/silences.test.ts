import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { alertLimits } from '../kernel/index.ts'
import { AlertBench, high, low, poolRule, tickMs } from './alerts.fixture.ts'

const minute = 60_000

let bench: AlertBench
beforeEach(() => {
  bench = new AlertBench()
})
afterEach(() => bench.end())

describe('a silence', () => {
  beforeEach(() => bench.withoutDefaults())
  const silence = (ruleId: string | null = null, durationMs = 10 * minute) =>
    bench.alerts.silence({ connectionId: 'local', ruleId, durationMs, reason: 'deploy', by: 'ada' })

  it('keeps incidents and tells nobody', () => {
    const rule = bench.addRule()
    const { until } = silence()
    expect(bench.viewOf(rule.id).silencedUntil).toBe(until)
    bench.read(high, minute)
    bench.read(low, minute)
    expect(bench.messages).toEqual([])
    expect(bench.alerts.incidents('local', { from: 0, to: Infinity })).toMatchObject([
      { resolvedAt: expect.any(Number) as number, firings: [{ silenced: true }] }
    ])
  })

  it('that ends while it still fires tells then', () => {
    bench.addRule()
    silence()
    bench.read(high, 10 * minute - tickMs)
    expect(bench.messages).toEqual([])
    bench.read(high)
    expect(bench.told()).toEqual(['fired oldestMs'])
    expect(bench.openIncident().firings).toMatchObject([{ silenced: false }])
  })

  it('that ends when somebody has it in hand tells nothing', () => {
    bench.addRule()
    silence()
    bench.read(high, minute)
    bench.alerts.acknowledge('local', bench.openIncident().id, { by: 'ada', note: '' })
    bench.read(high, 10 * minute)
    expect(bench.messages).toEqual([])
  })

  it('of one rule leaves the others', () => {
    const rule = bench.addRule({ forMs: 0 })
    bench.addRule({ ...poolRule, forMs: 0 })
    silence(rule.id)
    bench.read({ oldestMs: 200, poolUse: 1 })
    expect(bench.told()).toEqual(['fired poolUse'])
    expect(bench.messages[0]?.incident.firings).toHaveLength(2)
  })

  it('that comes after the message holds back repetitions and the end', () => {
    bench.addRule({ forMs: 0 })
    bench.read(high)
    silence()
    bench.read(high, 3 * minute)
    bench.read(low, minute)
    expect(bench.told()).toEqual(['fired oldestMs'])
  })

  it('can be ended, ends by itself, and says both', async () => {
    const { id } = silence()
    expect(bench.alerts.state('local').silences).toMatchObject([{ id, reason: 'deploy', by: 'ada' }])
    bench.alerts.unsilence('local', id)
    expect(bench.alerts.state('local').silences).toEqual([])
    const unknown = expect.objectContaining({ code: 'NOT_FOUND' }) as Error
    expect(() => bench.alerts.unsilence('local', id)).toThrow(unknown)
    silence(null, minute)
    bench.changes.length = 0
    bench.alerts.start()
    await bench.clock.advance(minute + 5_000)
    expect(bench.changes).toEqual(['local'])
    expect(bench.alerts.state('local').silences).toEqual([])
  })

  it('is refused for a rule that is not there, and beyond the limit', () => {
    expect(() => silence('none')).toThrow(expect.objectContaining({ code: 'NOT_FOUND' }) as Error)
    for (let n = 0; n < alertLimits.silencesPerConnection; n++) silence()
    expect(() => silence()).toThrow(expect.objectContaining({ code: 'LIMIT_REACHED' }) as Error)
  })
})
