import { describe, expect, it } from 'vitest'
import { defaultRetryPolicy, policy, type PolicyInput, type RetryChoice } from '../kernel/index.ts'
import { EffectivePolicies } from './effective-policy.ts'

const made = (...inputs: PolicyInput[]): EffectivePolicies =>
  new EffectivePolicies(inputs.map((input) => policy.parse(input)))
const list = (ms: number) => ({ kind: 'list' as const, delaysMs: [ms] })
const silent = { maxAttempts: null, retryPolicy: null, timeoutMs: null }

describe('EffectivePolicies', () => {
  it('falls back to the built-in terms, and lets everything be claimed', () => {
    const none = EffectivePolicies.none
    expect(none.ofTask('t', silent)).toEqual({ maxAttempts: 5, retryPolicy: defaultRetryPolicy, timeoutMs: null })
    expect(none.ofType('t')).toMatchObject({ enabled: true, maxRunning: null, rate: null, leaseMs: null, fair: false })
    expect([none.limitsClaim(['t']), none.limitsOwners]).toEqual([false, false])
  })

  it('asks the task, then its type, then *, then the queue, each value by itself', () => {
    const policies = made(
      { scope: 'QUEUE', name: '', maxAttempts: 9, timeoutMs: 9, leaseMs: 9_000, fair: true, retryPolicy: list(9) },
      { scope: 'TYPE', name: '*', maxAttempts: 8, timeoutMs: 8, retryPolicy: list(8) },
      { scope: 'TYPE', name: 't', maxAttempts: 7, fair: false, retryPolicy: list(7) }
    )
    const own = { maxAttempts: 1, retryPolicy: list(1), timeoutMs: 1 }
    expect(policies.ofTask('t', own)).toEqual(own)
    expect(policies.ofTask('t', silent)).toEqual({ maxAttempts: 7, retryPolicy: list(7), timeoutMs: 8 })
    expect(policies.ofTask('u', silent)).toEqual({ maxAttempts: 8, retryPolicy: list(8), timeoutMs: 8 })
    expect(policies.ofType('t')).toMatchObject({ leaseMs: 9_000, fair: false })
    expect(policies.ofType('u').fair).toBe(true)
  })

  it('looks up delays that are named, and asks the next one where they are not there', () => {
    const named = (name: string) => ({ kind: 'named' as const, name })
    const policies = made(
      { scope: 'DELAYS', name: 'slow', retryPolicy: list(5) },
      { scope: 'QUEUE', name: '', retryPolicy: list(9) },
      { scope: 'TYPE', name: '*', retryPolicy: named('slow') },
      { scope: 'TYPE', name: 't', retryPolicy: named('gone') },
      { scope: 'TYPE', name: 'slow', retryPolicy: list(7) }
    )
    const delays = (type: string, retryPolicy: RetryChoice | null) =>
      policies.ofTask(type, { ...silent, retryPolicy }).retryPolicy
    expect(delays('t', null)).toEqual(list(5))
    expect(delays('t', named('gone'))).toEqual(list(5))
    expect(delays('slow', null)).toEqual(list(7))
    expect(delays('slow', named('slow'))).toEqual(list(5))
  })

  it('gives a type that says nothing of a limit the limit of *, and never that of the queue', () => {
    const policies = made(
      { scope: 'QUEUE', name: '', maxRunning: 50 },
      { scope: 'TYPE', name: '*', maxRunning: 3, enabled: false, rate: { count: 1, periodMs: 1_000 } },
      { scope: 'TYPE', name: 't', maxAttempts: 2 },
      { scope: 'TYPE', name: 'u', maxRunning: 0 }
    )
    expect(policies.ofType('t')).toMatchObject({ enabled: false, maxRunning: 3, rate: { count: 1, periodMs: 1_000 } })
    expect(policies.ofType('u').maxRunning).toBe(0)
    expect(policies.ofType('v')).toMatchObject({ enabled: false, maxRunning: 3 })
    expect(made({ scope: 'QUEUE', name: '', maxRunning: 50 }).ofType('t').maxRunning).toBeNull()
    expect(policies.queue.maxRunning).toBe(50)
  })

  it('leaves enabled to * unless the own policy says it, and to nobody else', () => {
    const policies = made(
      { scope: 'QUEUE', name: '', enabled: false },
      { scope: 'TYPE', name: '*', enabled: false },
      { scope: 'TYPE', name: 'silent', maxRunning: 5 },
      { scope: 'TYPE', name: 'on', enabled: true },
      { scope: 'OWNER', name: '*', enabled: false },
      { scope: 'OWNER', name: 'silent', maxRunning: 5 },
      { scope: 'OWNER', name: 'on', enabled: true }
    )
    const names = ['silent', 'on', 'none']
    expect(names.map((name) => policies.ofType(name).enabled)).toEqual([false, true, false])
    expect(names.map((name) => policies.ofOwner(name).enabled)).toEqual([false, true, false])
    expect(made({ scope: 'QUEUE', name: '', enabled: false }).ofType('t').enabled).toBe(true)
    expect([policies.queue.enabled, EffectivePolicies.none.queue.enabled]).toEqual([false, true])
  })

  it('knows owners by name and by *', () => {
    const policies = made(
      { scope: 'OWNER', name: '*', maxRunning: 2 },
      { scope: 'OWNER', name: 'acme', enabled: false, maxUnfinished: 7 }
    )
    expect(policies.ofOwner('acme')).toEqual({ enabled: false, maxRunning: 2, maxUnfinished: 7 })
    expect(policies.ofOwner('')).toEqual({ enabled: true, maxRunning: null, maxUnfinished: null })
    expect(policies.ofOwner('other')).toEqual({ enabled: true, maxRunning: 2, maxUnfinished: null })
    expect([policies.limitsClaim(['t']), policies.limitsOwners]).toEqual([true, true])
  })

  it('leaves claims alone for what does not concern them', () => {
    const policies = made(
      { scope: 'OWNER', name: 'acme', maxUnfinished: 7 },
      { scope: 'TYPE', name: 't', maxAttempts: 2, leaseMs: 1_000, retriesPerMinute: 3 }
    )
    expect([policies.limitsClaim(['t', 'u']), policies.limitsOwners]).toEqual([false, false])
  })

  it('tells which claims have something to check', () => {
    const policies = made(
      { scope: 'TYPE', name: 'few', maxRunning: 1 },
      { scope: 'TYPE', name: 'slow', rate: { count: 1, periodMs: 1_000 } },
      { scope: 'TYPE', name: 'fair', fair: true },
      { scope: 'TYPE', name: 'off', enabled: false }
    )
    expect(['few', 'slow', 'fair', 't'].map((type) => policies.limitsClaim(['t', type]))).toEqual([
      true,
      true,
      true,
      false
    ])
    expect(made({ scope: 'QUEUE', name: '', maxRunning: 9 }).limitsClaim(['t'])).toBe(true)
  })
})
