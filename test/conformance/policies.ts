import { describe, expect, it } from 'vitest'
import { defaultRetryPolicy, taskFilter, type PolicyInput } from '../../src-main/kernel/index.ts'
import type { QueueUnderTest } from './queue-under-test.ts'

/** A store looks for policies that others set at least so often (ms). */
export const oneLookMs = 250
const list = (ms: number) => ({ kind: 'list' as const, delaysMs: [ms] })
const named = (name: string) => ({ kind: 'named' as const, name })

export function describePolicies(queue: QueueUnderTest): void {
  const claimOne = async (leaseMs?: number) => (await queue.claim(1, leaseMs === undefined ? {} : { leaseMs }))[0]!

  describe('policies', () => {
    it('are kept whole, told in order, replaced whole, and removed', async () => {
      const full: PolicyInput = {
        scope: 'TYPE',
        name: 't',
        enabled: false,
        maxRunning: 0,
        maxUnfinished: 4_294_967_295,
        rate: { count: 5, periodMs: 1_000 },
        maxAttempts: 7,
        retryPolicy: list(5),
        retriesPerMinute: 60,
        timeoutMs: 1_000,
        leaseMs: 5_000,
        fair: true
      }
      await queue.store.setPolicy(full)
      await queue.store.setPolicy({ scope: 'QUEUE', name: '', fair: false })
      await queue.store.setPolicy({ scope: 'OWNER', name: 'Ä 🎩', maxRunning: 3 })
      const names = (await queue.store.policies()).map(({ scope, name }) => `${scope} ${name}`)
      expect(names).toEqual(['OWNER Ä 🎩', 'QUEUE ', 'TYPE t'])
      expect((await queue.store.policies())[2]).toEqual(full)
      await queue.store.setPolicy({ scope: 'TYPE', name: 't', maxAttempts: 2 })
      expect((await queue.store.policies())[2]).toMatchObject({
        enabled: null,
        maxRunning: null,
        rate: null,
        fair: null
      })
      expect(await queue.store.removePolicy('TYPE', 't')).toBe(true)
      expect(await queue.store.removePolicy('TYPE', 't')).toBe(false)
      expect(await queue.store.policies()).toHaveLength(2)
    })

    it.each<PolicyInput>([
      { scope: 'QUEUE', name: 'q' },
      { scope: 'TYPE', name: '' },
      { scope: 'TYPE', name: 't', maxRunning: -1 },
      { scope: 'TYPE', name: 't', leaseMs: 10 },
      { scope: 'OWNER', name: 'o', rate: { count: 1, periodMs: 1 } },
      { scope: 'OWNER', name: 'a\0b' },
      { scope: 'OWNER', name: ' ', maxRunning: 1 },
      { scope: 'TYPE', name: '  ', maxRunning: 1 },
      { scope: 'OWNER', name: 'ada ', maxRunning: 1 },
      { scope: 'OWNER', name: '* ', maxRunning: 1 },
      { scope: 'DELAYS', name: '', retryPolicy: list(1) },
      { scope: 'DELAYS', name: '*', retryPolicy: list(1) },
      { scope: 'DELAYS', name: 'slow' },
      { scope: 'DELAYS', name: 'slow', retryPolicy: named('slow') },
      { scope: 'DELAYS', name: 'slow', retryPolicy: list(1), maxAttempts: 3 },
      { scope: 'TYPE', name: 't', retryPolicy: named('slow') },
      { scope: 'OWNER', name: 'o', retryPolicy: list(1) }
    ])('are refused when they make no sense: %o', async (policy) => {
      await expect(queue.store.setPolicy(policy)).rejects.toMatchObject({ code: 'INVALID_INPUT' })
      expect(await queue.store.policies()).toEqual([])
    })

    it.each([
      ['lease_ms', 0],
      ['lease_ms', 999],
      ['timeout_ms', 0],
      ['max_attempts', 0],
      ['retries_per_minute', 0],
      ['rate_count', 0],
      ['rate_period_ms', 0]
    ])('written by another program with %s = %i, less than can be set, count as not set', async (column, value) => {
      const none = {
        scope: 'TYPE',
        name: 't',
        enabled: null,
        maxRunning: null,
        maxUnfinished: null,
        rate: null
      } as const
      await queue.store.setPolicy({ scope: 'TYPE', name: 't' })
      await queue.store.setPolicy({ scope: 'TYPE', name: '*', leaseMs: 8_000, timeoutMs: 800, maxAttempts: 8 })
      // Half a rate is none: each of its columns is tried beside one that is fine.
      const rest =
        column === 'rate_count' ? ', rate_period_ms = 60000' : column === 'rate_period_ms' ? ', rate_count = 1' : ''
      await queue.sql(`UPDATE taskdeck_policy SET ${column} = ${value}${rest} WHERE name = 't'`)
      const own = (await queue.store.policies()).find(({ name }) => name === 't')
      const open = { maxAttempts: null, retryPolicy: null, retriesPerMinute: null, timeoutMs: null, leaseMs: null }
      expect(own).toEqual({ ...none, ...open, fair: null })
      const other = await queue.open()
      await queue.submit()
      const [claimed] = await queue.claim(1, { store: other })
      expect(claimed).toMatchObject({ leaseMs: 8_000, timeoutMs: 800, maxAttempts: 8 })
    })

    it('say what a task leaves open: its type, then *, then the queue, then the built-in terms', async () => {
      await queue.submit()
      expect(await claimOne()).toMatchObject({
        ...{ maxAttempts: 5, retryPolicy: defaultRetryPolicy, timeoutMs: null, leaseMs: 60_000 }
      })
      await queue.store.setPolicy({ scope: 'QUEUE', name: '', maxAttempts: 9, leaseMs: 9_000, timeoutMs: 900 })
      await queue.store.setPolicy({ scope: 'TYPE', name: '*', maxAttempts: 8, retryPolicy: list(8) })
      await queue.submit()
      expect(await claimOne()).toMatchObject({ maxAttempts: 8, retryPolicy: list(8), timeoutMs: 900, leaseMs: 9_000 })
      await queue.store.setPolicy({ scope: 'TYPE', name: 't', maxAttempts: 7, leaseMs: 7_000 })
      const open = await queue.submit()
      const claimed = await claimOne()
      expect(claimed).toMatchObject({ maxAttempts: 7, retryPolicy: list(8), timeoutMs: 900, leaseMs: 7_000 })
      const detail = await queue.detail(open)
      expect(detail).toMatchObject({ maxAttempts: 7, retryPolicy: list(8), timeoutMs: 900 })
      expect(detail.leaseUntil! - detail.startedAt!).toBeCloseTo(7_000, 0)
      const own = await queue.submit({ maxAttempts: 1, retryPolicy: list(1), timeoutMs: 1 })
      expect(await claimOne()).toMatchObject({ maxAttempts: 1, retryPolicy: list(1), timeoutMs: 1 })
      const { rows } = await queue.store.list(taskFilter.parse({}), 10, null)
      expect(rows.slice(0, 2).map(({ id, maxAttempts, timeoutMs }) => [id, maxAttempts, timeoutMs])).toEqual([
        [own, 1, 1],
        [open, 7, 900]
      ])
    })

    it('give leases that are renewed for as long as the claim gave, whatever the policy says by then', async () => {
      await queue.store.setPolicy({ scope: 'TYPE', name: 't', leaseMs: 600_000 })
      const fence = await queue.running()
      await queue.store.setPolicy({ scope: 'TYPE', name: 't', leaseMs: 1_000 })
      await queue.shift(fence.taskId, 'lease_until', -3_600_000)
      expect((await queue.store.renew([fence])).renewed).toEqual([fence])
      const { leaseUntil, startedAt } = await queue.detail(fence.taskId)
      expect(leaseUntil! - startedAt!).toBeGreaterThanOrEqual(600_000 - 1)
    })

    it('decide what becomes of a lost lease', async () => {
      await queue.store.setPolicy({ scope: 'TYPE', name: 't', maxAttempts: 1 })
      const last = await queue.running()
      await queue.loseLease(last.taskId)
      expect(await queue.state(last.taskId)).toBe('FAILED')
      await queue.store.setPolicy({ scope: 'TYPE', name: 't', maxAttempts: 2, retryPolicy: list(3_600_000) })
      const again = await queue.running()
      await queue.loseLease(again.taskId)
      const { state, runAt, stateSince } = await queue.detail(again.taskId)
      expect(state).toBe('RETRY_WAIT')
      expect(runAt - stateSince).toBeCloseTo(3_600_000, 0)
    })

    it('take effect in another store within its next look', async () => {
      const other = await queue.open()
      await queue.submit()
      expect(await queue.claim(1, { store: other })).toHaveLength(1)
      await queue.store.setPolicy({ scope: 'TYPE', name: 't', maxAttempts: 3 })
      await new Promise((resolve) => setTimeout(resolve, oneLookMs))
      await queue.submit()
      expect((await queue.claim(1, { store: other }))[0]).toMatchObject({ maxAttempts: 3 })
    })
  })
}
