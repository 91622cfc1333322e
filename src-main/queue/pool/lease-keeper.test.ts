import { beforeEach, describe, expect, it } from 'vitest'
import { AppError, type Fence } from '../../kernel/index.ts'
import type { Renewal, TaskStore } from '../task-store.ts'
import { DatabaseState } from './database-state.ts'
import { claimedTask } from './lease.fixture.ts'
import { LeaseBook } from './lease-book.ts'
import { LeaseKeeper } from './lease-keeper.ts'
import { ManualClock } from '../manual-clock.fixture.ts'

const leaseMs = 3_000

describe('LeaseKeeper', () => {
  let clock: ManualClock
  let book: LeaseBook
  let renewals: number[]
  let lost: string[]
  let lostAt: number | undefined
  let cancelled: string[]
  let answer: (leases: readonly Fence[]) => Renewal | Promise<Renewal>
  let keeper: LeaseKeeper

  beforeEach(() => {
    clock = new ManualClock()
    book = new LeaseBook(clock)
    renewals = []
    lost = []
    lostAt = undefined
    cancelled = []
    answer = (leases) => ({ renewed: leases, lost: [], cancelRequested: [] })
    const store: Pick<TaskStore, 'renew'> = {
      renew: async (leases) => {
        renewals.push(leases.length)
        return answer(leases)
      }
    }
    keeper = new LeaseKeeper({
      store: store as TaskStore,
      clock,
      database: new DatabaseState(() => undefined),
      book,
      leaseMs,
      onLost: ({ claimed }) => {
        lostAt ??= clock.monotonic()
        lost.push(claimed.fence.taskId)
      },
      onCancelRequested: ({ claimed }) => cancelled.push(claimed.fence.taskId)
    })
    for (const taskId of ['1', '2']) book.add(claimedTask({ taskId, leaseMs }), leaseMs)
  })

  it('renews all leases in one call, three times a lease', async () => {
    keeper.start()
    await clock.advance(10 * leaseMs)
    expect(new Set(renewals)).toEqual(new Set([2]))
    expect(renewals.length).toBeGreaterThanOrEqual(30)
    expect(lost).toEqual([])
  })

  it('keeps a lease in time that is shorter than the others, from the moment it comes', async () => {
    const renewedAt: number[] = []
    answer = (leases) => {
      if (leases.some(({ taskId }) => taskId === 'short')) renewedAt.push(clock.monotonic())
      return { renewed: leases, lost: [], cancelRequested: [] }
    }
    keeper.start()
    await clock.advance(leaseMs / 3 + 100)
    const came = clock.monotonic()
    book.add(claimedTask({ taskId: 'short', leaseMs: 300 }), came + 300)
    keeper.leased()
    await clock.advance(3_000)
    expect(lost).toEqual([])
    expect(renewedAt[0]! - came).toBeLessThanOrEqual(100)
    expect(Math.max(...renewedAt.map((at, n) => at - (renewedAt[n - 1] ?? came)))).toBeLessThanOrEqual(101)
  })

  it('stops the handler of a short lease that is not renewed, and leaves the longer ones', async () => {
    answer = () => new Promise<Renewal>(() => undefined)
    keeper.start()
    await clock.advance(100)
    book.add(claimedTask({ taskId: 'short', leaseMs: 300 }), clock.monotonic() + 300)
    keeper.leased()
    await clock.advance(300)
    expect(new Set(lost)).toEqual(new Set(['short']))
  })

  it('stops the handler of a lost lease at once', async () => {
    answer = (leases) => ({ renewed: leases.slice(1), lost: leases.slice(0, 1), cancelRequested: [] })
    keeper.start()
    await clock.advance(10)
    expect(lost).toContain('1')
    expect(lost).not.toContain('2')
  })

  it('passes on that a task is to be cancelled', async () => {
    answer = (leases) => ({ renewed: leases, lost: [], cancelRequested: leases.slice(1) })
    keeper.start()
    await clock.advance(10)
    expect(cancelled).toEqual(['2'])
  })

  it('leaves a lease alone that is just being settled', async () => {
    for (const lease of book.all()) lease.phase = 'settling'
    answer = (leases) => ({ renewed: [], lost: leases, cancelRequested: [] })
    keeper.start()
    await clock.advance(10)
    expect(lost).toEqual([])
  })

  it.each([
    ['fail', () => Promise.reject(new AppError('DEADLOCK', 'operational', 'rolled back'))],
    ['hang', () => new Promise<Renewal>(() => undefined)]
  ])('stops handlers before the server may give their tasks away when renewals %s', async (_how, broken) => {
    answer = broken
    keeper.start()
    await clock.advance(leaseMs * 0.8)
    expect(lost).toEqual([])
    await clock.advance(leaseMs)
    expect(new Set(lost)).toEqual(new Set(['1', '2']))
    expect(lostAt).toBeLessThan(leaseMs)
  })

  it('keeps the leases through single failures', async () => {
    let calls = 0
    answer = (leases) => {
      if (++calls % 3 === 0) throw new AppError('DEADLOCK', 'operational', 'rolled back')
      return { renewed: leases, lost: [], cancelRequested: [] }
    }
    keeper.start()
    await clock.advance(20 * leaseMs)
    expect(lost).toEqual([])
  })
})
