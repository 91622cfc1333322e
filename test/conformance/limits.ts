import { describe, expect, it } from 'vitest'
import { taskFilter, type PolicyInput } from '../../src-main/kernel/index.ts'
import type { ClaimedTask, LimitedBy } from '../../src-main/queue/task-store.ts'
import { leaseHistory, microseconds, mostAtOnce, mostStarted, race, type HeldLease } from './lease-history.ts'
import { failure, task, type QueueUnderTest } from './queue-under-test.ts'

const request = { workerId: 'w1', types: ['t'], limit: 10, leaseMs: 60_000 }
const owners = (claimed: readonly ClaimedTask[]): string[] => claimed.map(({ owner }) => owner)
/** A store looks for policies that others set at least so often (ms). */
const oneLookMs = 250
const pauseOf = (ms: number) => () => new Promise<void>((resolve) => setTimeout(resolve, ms))

export function describeLimits(queue: QueueUnderTest): void {
  const set = (policy: PolicyInput): Promise<void> => queue.store.setPolicy(policy)
  const submitMany = (count: number, input: Parameters<typeof task>[0] = {}): Promise<unknown> =>
    queue.store.submit(Array.from({ length: count }, () => task(input)))
  const claimNow = (change: Partial<typeof request> = {}): Promise<ClaimedTask[]> =>
    queue.store.claim({ ...request, ...change })

  describe('what is not enabled', () => {
    it.each<[string, PolicyInput]>([
      ['the queue', { scope: 'QUEUE', name: '' }],
      ['its type', { scope: 'TYPE', name: 't' }],
      ['every type', { scope: 'TYPE', name: '*' }],
      ['its owner', { scope: 'OWNER', name: 'o' }],
      ['every owner', { scope: 'OWNER', name: '*' }]
    ])('is not claimed, runs on, and is claimed again: %s', async (_, policy) => {
      const running = await queue.running({ owner: 'o' })
      await submitMany(3, { owner: 'o' })
      await set({ ...policy, enabled: false })
      expect(await claimNow()).toEqual([])
      expect((await queue.store.renew([running])).renewed).toEqual([running])
      expect(await queue.settle({ fence: running, outcome: 'SUCCESS', result: null })).toBe('SUCCESS')
      await set(policy)
      expect(await claimNow()).toHaveLength(3)
    })

    it('leaves others alone', async () => {
      await set({ scope: 'TYPE', name: 'off', enabled: false })
      await set({ scope: 'OWNER', name: 'off', enabled: false })
      await submitMany(2, { type: 'off', priority: 0 })
      await submitMany(2, { owner: 'off', priority: 0 })
      await submitMany(2, { owner: 'on' })
      expect(owners(await claimNow({ types: ['t', 'off'] }))).toEqual(['on', 'on'])
    })

    it('is a type or owner with a policy of its own too while * is not, unless that says that it is', async () => {
      await submitMany(1, { type: 'silent', owner: 'o' })
      await submitMany(1, { type: 'on', owner: 'o' })
      const types = ['silent', 'on']
      await set({ scope: 'TYPE', name: 'silent', maxRunning: 5 })
      await set({ scope: 'TYPE', name: 'on', enabled: true })
      await set({ scope: 'OWNER', name: 'o', maxRunning: 5 })
      await set({ scope: 'OWNER', name: '*', enabled: false })
      expect(await claimNow({ types })).toEqual([])
      await set({ scope: 'OWNER', name: 'o', enabled: true })
      await set({ scope: 'TYPE', name: '*', enabled: false })
      expect((await claimNow({ types })).map(({ type }) => type)).toEqual(['on'])
      await queue.store.removePolicy('TYPE', '*')
      expect((await claimNow({ types })).map(({ type }) => type)).toEqual(['silent'])
    })

    it('leaves tasks without an owner alone when it is every owner', async () => {
      await set({ scope: 'OWNER', name: '*', enabled: false, maxRunning: 0 })
      await submitMany(2, { owner: 'o', priority: 0 })
      await submitMany(2)
      expect(owners(await claimNow())).toEqual(['', ''])
    })

    it('stops the claimers of another store within one look', async () => {
      const other = await queue.open()
      await submitMany(200)
      expect(await other.claim({ ...request, limit: 1 })).toHaveLength(1)
      await set({ scope: 'TYPE', name: 't', enabled: false })
      await pauseOf(oneLookMs)()
      expect(await other.claim(request)).toEqual([])
    })
  })

  describe('limits of running tasks', () => {
    it('of 1 with 250 tasks and 8 racing claimers: all end, and never are two leased at once (FAULTS 39)', async () => {
      await set({ scope: 'TYPE', name: 't', maxRunning: 1 })
      await submitMany(250)
      const stores = await queue.openMany(8)
      expect(await race(stores, { types: ['t'], total: 250, limit: 5 })).toBe(250)
      const leases = await leaseHistory(queue)
      expect(leases).toHaveLength(250)
      expect(mostAtOnce(leases)).toBe(1)
    }, 60_000)

    it('are what keeps them apart: without one the same claimers overlap', async () => {
      await submitMany(200)
      expect(await race(await queue.openMany(8), { types: ['t'], total: 200, limit: 5, hold: pauseOf(2) })).toBe(200)
      expect(mostAtOnce(await leaseHistory(queue))).toBeGreaterThan(5)
    }, 60_000)

    it('hold for the queue, each type and each owner together, and leave no room unused', async () => {
      await set({ scope: 'QUEUE', name: '', maxRunning: 6 })
      await set({ scope: 'TYPE', name: '*', maxRunning: 4 })
      await set({ scope: 'TYPE', name: 'b', maxRunning: 3 })
      await set({ scope: 'OWNER', name: '*', maxRunning: 2 })
      await set({ scope: 'OWNER', name: 'p', maxRunning: 1 })
      const types = ['a', 'b', 'c']
      for (const type of types) for (const owner of ['o', 'p', 'q', 'r']) await submitMany(15, { type, owner })
      const hold = pauseOf(3)
      expect(await race(await queue.openMany(6), { types, total: 180, limit: 4, hold })).toBe(180)
      const leases = await leaseHistory(queue)
      const of = (part: Partial<HeldLease>): HeldLease[] =>
        leases.filter((one) => Object.entries(part).every(([key, value]) => one[key as keyof HeldLease] === value))
      expect(mostAtOnce(leases)).toBeLessThanOrEqual(6)
      expect(mostAtOnce(leases)).toBeGreaterThan(2)
      for (const type of types) expect(mostAtOnce(of({ type }))).toBeLessThanOrEqual(type === 'b' ? 3 : 4)
      for (const owner of ['o', 'p', 'q', 'r'])
        expect(mostAtOnce(of({ owner }))).toBeLessThanOrEqual(owner === 'p' ? 1 : 2)
    }, 60_000)

    it('count what was asked to stop and what has lost its lease, until it has ended', async () => {
      await set({ scope: 'TYPE', name: 't', maxRunning: 2 })
      await submitMany(5)
      const [asked, lost] = await claimNow()
      await queue.store.act(asked!.fence.taskId, 'cancel', 'ada')
      await queue.shift(lost!.fence.taskId, 'lease_until', -3_600_000)
      expect(await claimNow()).toEqual([])
      await queue.settle({ fence: asked!.fence, outcome: 'CANCELLED' })
      expect(await claimNow()).toHaveLength(1)
      await queue.store.recover(10)
      expect(await claimNow()).toHaveLength(1)
    })

    it('are said to have cut a claim short, so that its worker knows the end of which tasks makes room', async () => {
      await set({ scope: 'TYPE', name: 't', maxRunning: 2 })
      await set({ scope: 'TYPE', name: 'rated', rate: { count: 1, periodMs: 3_600_000 } })
      await submitMany(5)
      await submitMany(5, { type: 'rated' })
      const told: string[][] = []
      const claimed = async (limit: number, types: string[]): Promise<number> => {
        const onLimited = ({ types: some }: LimitedBy): void => void told.push([...some])
        return (await queue.store.claim({ ...request, limit, types, onLimited })).length
      }
      // All that it asked for; then what there is room for; then nothing.
      expect([await claimed(1, ['t']), told]).toEqual([1, []])
      expect([await claimed(5, ['t', 'rated']), told]).toEqual([2, [['t']]])
      expect([await claimed(5, ['t', 'rated']), told]).toEqual([0, [['t'], ['t']]])
      expect([await claimed(5, ['rated']), told]).toEqual([0, [['t'], ['t']]])
      await submitMany(3, { type: 'u' })
      expect([await claimed(5, ['u']), told]).toEqual([3, [['t'], ['t']]])
      // Queue and owners: ends of other types make room too.
      await set({ scope: 'QUEUE', name: '', maxRunning: 7 })
      await submitMany(3, { type: 'u' })
      expect([await claimed(5, ['u', 'v']), told.splice(0).at(-1)]).toEqual([1, ['u', 'v']])
      await set({ scope: 'QUEUE', name: '' })
      await set({ scope: 'OWNER', name: 'o', maxRunning: 1 })
      await submitMany(2, { type: 'owned', owner: 'o' })
      expect([await claimed(5, ['owned', 'v']), told.splice(0)]).toEqual([1, [['owned', 'v']]])
    })

    it('of 0 claim nothing', async () => {
      await set({ scope: 'TYPE', name: 't', maxRunning: 0 })
      await submitMany(2)
      expect(await claimNow()).toEqual([])
    })

    it('of owners leave tasks alone that have none', async () => {
      await set({ scope: 'OWNER', name: '*', maxRunning: 1 })
      await submitMany(3)
      expect(await claimNow()).toHaveLength(3)
    })

    it('may change while claimers run', async () => {
      await set({ scope: 'TYPE', name: 't', maxRunning: 6 })
      await submitMany(200)
      const stores = await queue.openMany(4)
      let claimed = 0
      const isUnderWay = Promise.withResolvers<void>()
      const hold = (tasks: readonly ClaimedTask[]): Promise<void> => {
        claimed += tasks.length
        if (claimed >= 20) isUnderWay.resolve()
        return pauseOf(4)()
      }
      const running = race(stores, { types: ['t'], total: 200, limit: 5, hold })
      await isUnderWay.promise
      await set({ scope: 'TYPE', name: 't', maxRunning: 2 })
      expect(await running).toBe(200)
      const leases = await leaseHistory(queue)
      const [row] = await queue.sql("SELECT updated_at AS at FROM taskdeck_policy WHERE name = 't'")
      const changed = microseconds(row!['at'])
      expect(mostAtOnce(leases)).toBeLessThanOrEqual(6)
      expect(mostAtOnce(leases)).toBeGreaterThan(2)
      // What was leased before it may still run; and a claim in flight may have asked before.
      expect(mostAtOnce(leases, changed + oneLookMs * 1000)).toBeLessThanOrEqual(2)
    }, 60_000)

    it('keep the order of the claim among those that are allowed', async () => {
      await set({ scope: 'OWNER', name: 'blocked', maxRunning: 1 })
      const now = Date.now()
      await queue.store.submit(
        ['blocked', 'blocked', 'x', 'y', 'x'].map((owner, n) => task({ owner, runAt: now - 60_000 + n }))
      )
      expect(owners(await queue.claim(4))).toEqual(['blocked', 'x', 'y', 'x'])
    })
  })

  describe('a type or owner at its limit', () => {
    it('with many tasks ahead keeps nobody else from working', async () => {
      await set({ scope: 'TYPE', name: 'full', maxRunning: 1 })
      await set({ scope: 'OWNER', name: 'full', maxRunning: 1 })
      await submitMany(1_500, { type: 'full', priority: 0 })
      await submitMany(1_500, { owner: 'full', priority: 0 })
      expect(await queue.claim(2, { types: ['full', 't'] })).toHaveLength(2)
      await submitMany(5, { owner: 'free', priority: 9 })
      const claimed = await queue.claim(5, { types: ['full', 't'] })
      expect(owners(claimed)).toEqual(Array.from({ length: 5 }, () => 'free'))
    })

    it('lets a claim take all that it asked for of the others', async () => {
      await set({ scope: 'TYPE', name: 'a', maxRunning: 2 })
      await submitMany(50, { type: 'a' })
      await submitMany(50, { type: 'b' })
      const claimed = await queue.claim(20, { types: ['a', 'b'] })
      expect(claimed.filter(({ type }) => type === 'a')).toHaveLength(2)
      expect(claimed).toHaveLength(20)
    })
  })

  describe('rates', () => {
    it('are exceeded in no window, with 4 racing claimers', async () => {
      await set({ scope: 'TYPE', name: 't', rate: { count: 20, periodMs: 400 } })
      await submitMany(120)
      const stores = await queue.openMany(4)
      expect(await race(stores, { types: ['t'], total: 120, limit: 7 })).toBe(120)
      const leases = await leaseHistory(queue)
      expect(mostStarted(leases, 400)).toBe(20)
      const starts = leases.map(({ startedAt }) => startedAt)
      // Six bursts, five periods between them.
      expect(Math.max(...starts) - Math.min(...starts)).toBeGreaterThanOrEqual(5 * 400_000)
    }, 60_000)

    it('of one type leave another alone', async () => {
      await set({ scope: 'TYPE', name: 't', rate: { count: 2, periodMs: 3_600_000 } })
      await submitMany(5)
      await submitMany(5, { type: 'u' })
      const claimed = await queue.claim(7, { types: ['t', 'u'] })
      expect(claimed.filter(({ type }) => type === 't')).toHaveLength(2)
      expect(await claimNow()).toEqual([])
    })
  })

  describe('a retry budget', () => {
    it('spreads a wave of 5,000 failures: no second has more than three times the mean (FAULTS 53)', async () => {
      await set({ scope: 'TYPE', name: 't', retriesPerMinute: 6_000 })
      await submitMany(5_000)
      for (let failed = 0; failed < 5_000;) {
        const claimed = await claimNow({ limit: 500 })
        await queue.store.settle(
          claimed.map(({ fence }) => ({ fence, outcome: 'RETRY', error: failure, delayMs: 5_000 }) as const)
        )
        failed += claimed.length
      }
      const due: number[] = []
      for (let cursor: string | null = null; ;) {
        const page = await queue.store.list(taskFilter.parse({ states: ['RETRY_WAIT'] }), 500, cursor)
        due.push(...page.rows.map(({ runAt }) => runAt))
        cursor = page.nextCursor
        if (cursor === null) break
      }
      expect(due).toHaveLength(5_000)
      const first = Math.min(...due)
      const seconds = new Map<number, number>()
      for (const at of due)
        seconds.set(Math.floor((at - first) / 1000), (seconds.get(Math.floor((at - first) / 1000)) ?? 0) + 1)
      const span = (Math.max(...due) - first) / 1000
      // 100 a second.
      expect(span).toBeGreaterThan(40)
      expect(Math.max(...seconds.values())).toBeLessThanOrEqual((3 * 5_000) / span)
    }, 60_000)

    it('is taken from by lost leases too, and changes nothing for other types', async () => {
      await set({ scope: 'TYPE', name: 't', retriesPerMinute: 1, retryPolicy: { kind: 'list', delaysMs: [0] } })
      const lost = [await queue.running(), await queue.running(), await queue.running()]
      for (const { taskId } of lost) await queue.shift(taskId, 'lease_until', -3_600_000)
      await queue.recoverAll()
      const waits = await Promise.all(lost.map(({ taskId }) => queue.detail(taskId)))
      const delays = waits.map(({ runAt, stateSince }) => runAt - stateSince).sort((a, b) => a - b)
      expect(delays[0]).toBeLessThan(1)
      expect(delays[2]).toBeGreaterThanOrEqual(60_000)
      const other = await queue.running({ type: 'u' })
      await queue.settle({ fence: other, outcome: 'RETRY', error: failure, delayMs: 5_000 })
      const { runAt, stateSince } = await queue.detail(other.taskId)
      expect(runAt - stateSince).toBeCloseTo(5_000, 0)
    })
  })
}
