import { beforeEach, describe, expect, it } from 'vitest'
import { AppError, type Clock } from '../kernel/index.ts'
import { SessionPool, type PooledSession } from './session-pool.ts'

class FakeSession implements PooledSession {
  isBroken = false
  tainted = false
  onBroken = (): void => undefined
  destroy(): void {
    if (this.isBroken) return
    this.isBroken = true
    this.onBroken()
  }
  end(): Promise<void> {
    this.destroy()
    return Promise.resolve()
  }
}

/** Time stands still; deadlines pass when the test says so. */
class HandClock implements Clock {
  time = 0
  private readonly sleepers = new Set<() => void>()
  now = (): number => this.time
  monotonic = (): number => this.time
  random = (): number => 0.5
  sleep(_ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      this.sleepers.add(resolve)
      signal?.addEventListener('abort', () => {
        this.sleepers.delete(resolve)
        reject(new Error('aborted'))
      })
    })
  }
  endAllSleeps(): void {
    for (const wake of this.sleepers) wake()
    this.sleepers.clear()
  }
}

let clock: HandClock
let opened: FakeSession[]
let openFails: AppError | null

const pool = (size: number): SessionPool<FakeSession> =>
  new SessionPool({
    size,
    clock,
    acquireTimeoutMs: 50,
    open: () => {
      if (openFails) return Promise.reject(openFails)
      const session = new FakeSession()
      opened.push(session)
      return Promise.resolve(session)
    }
  })

const code = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'ok',
    (error: AppError) => error.code
  )

beforeEach(() => {
  clock = new HandClock()
  opened = []
  openFails = null
})

describe('SessionPool', () => {
  it('reuses what was released and opens no more than its size', async () => {
    const sessions = pool(2)
    const [first, second] = [await sessions.acquire(), await sessions.acquire()]
    const third = sessions.acquire()
    sessions.release(first)
    expect(await third).toBe(first)
    sessions.release(second)
    expect(await sessions.acquire()).toBe(second)
    expect(opened).toHaveLength(2)
  })

  it('gives the most recently used of those that suit, else of all', async () => {
    const sessions = pool(3)
    const [first, second, third] = [await sessions.acquire(), await sessions.acquire(), await sessions.acquire()]
    for (const session of [first, second, third]) sessions.release(session)
    expect(await sessions.acquire((session) => session !== third)).toBe(second)
    expect(await sessions.acquire(() => false)).toBe(third)
    expect(await sessions.acquire(() => false)).toBe(first)
  })

  it('serves waiters in their order', async () => {
    const sessions = pool(1)
    const session = await sessions.acquire()
    const order: number[] = []
    const waiters = [1, 2].map(async (n) => {
      const mine = await sessions.acquire()
      order.push(n)
      sessions.release(mine)
    })
    sessions.release(session)
    await Promise.all(waiters)
    expect(order).toEqual([1, 2])
  })

  it('gives up waiting at its deadline and loses no place by it', async () => {
    const sessions = pool(1)
    const session = await sessions.acquire()
    const late = code(sessions.acquire())
    await Promise.resolve()
    clock.endAllSleeps()
    expect(await late).toBe('POOL_EXHAUSTED')
    sessions.release(session)
    expect(await sessions.acquire()).toBe(session)
  })

  it.each(['broken', 'tainted'] as const)('replaces a %s session, for a waiter too', async (how) => {
    const sessions = pool(1)
    const bad = await sessions.acquire()
    const next = sessions.acquire()
    if (how === 'broken') bad.destroy()
    else bad.tainted = true
    sessions.release(bad)
    expect(await next).not.toBe(bad)
    expect(bad.isBroken).toBe(true)
    expect(opened).toHaveLength(2)
  })

  it('counts a place once, however a session ends', async () => {
    const sessions = pool(1)
    const inUse = await sessions.acquire()
    inUse.destroy()
    sessions.release(inUse)
    sessions.release(inUse)
    const idle = await sessions.acquire()
    sessions.release(idle)
    idle.destroy()
    await sessions.acquire()
    const extra = code(sessions.acquire())
    await Promise.resolve()
    clock.endAllSleeps()
    expect(await extra).toBe('POOL_EXHAUSTED')
    expect(opened).toHaveLength(3)
  })

  it('passes on why it cannot open one, and tries again for the next', async () => {
    const sessions = pool(1)
    openFails = new AppError('CONNECTION_REFUSED', 'operational', 'x')
    expect(await code(sessions.acquire())).toBe('CONNECTION_REFUSED')
    openFails = null
    expect(await code(sessions.acquire())).toBe('ok')
  })

  it('does not hand out what was idle for long, or was dropped', async () => {
    const sessions = pool(1)
    const old = await sessions.acquire()
    sessions.release(old)
    clock.time += 60_000
    const fresh = await sessions.acquire()
    sessions.release(fresh)
    sessions.dropIdle()
    const third = await sessions.acquire()
    expect([old.isBroken, fresh.isBroken, third.isBroken]).toEqual([true, true, false])
  })

  it('ends everything at close, waiters included, and opens nothing afterwards', async () => {
    const sessions = pool(2)
    const [idle, inUse] = [await sessions.acquire(), await sessions.acquire()]
    sessions.release(idle)
    const closing = sessions.close()
    expect(await code(sessions.acquire())).toBe('CONNECTION_LOST')
    clock.endAllSleeps()
    await closing
    expect([idle.isBroken, inUse.isBroken]).toEqual([true, true])
    await sessions.close()
    expect(opened).toHaveLength(2)
  })

  it('tells those who wait that it was closed', async () => {
    const sessions = pool(1)
    const session = await sessions.acquire()
    const waiter = code(sessions.acquire())
    await Promise.resolve()
    const closing = sessions.close()
    expect(await waiter).toBe('CONNECTION_LOST')
    sessions.release(session)
    await closing
  })

  it('waits at close for a session in use to be released', async () => {
    const sessions = pool(1)
    const session = await sessions.acquire()
    const closing = sessions.close()
    expect(session.isBroken).toBe(false)
    sessions.release(session)
    await closing
    expect(session.isBroken).toBe(true)
  })
})
