import { describe, expect, it } from 'vitest'
import type { LinkState } from '../../contract/index.ts'
import { AppError, systemClock, toAppError, type Clock, type QueueReading } from '../../kernel/index.ts'
import type { TaskStore } from '../../queue/task-store.ts'
import { QueueLink, type Opening, type QueueLinkOptions } from './queue-link.ts'

const reading: QueueReading = {
  at: 5,
  depth: [],
  oldest: [],
  flow: [],
  duration: null,
  pickup: null,
  workers: [],
  costMs: 1
}
const refused = new AppError('CONNECTION_REFUSED', 'operational', 'Nothing listens there.')

/** No pause and no deadline ever ends by itself: `retryNow` moves the link on. */
const stillClock: Clock = {
  now: () => 1_000,
  monotonic: () => 0,
  random: () => 0.5,
  sleep: (_ms, signal) =>
    new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(new Error('aborted'))))
}

interface Setup {
  readonly link: QueueLink
  readonly states: LinkState[]
  /** Resolves with the next state. */
  next(): Promise<LinkState>
}

function setup(open: () => Promise<Opening>, look: QueueLinkOptions['look']): Setup {
  const states: LinkState[] = []
  const listeners: ((state: LinkState) => void)[] = []
  const link = new QueueLink({
    clock: stillClock,
    open,
    look,
    onState(state) {
      states.push(state)
      listeners.splice(0).forEach((listener) => listener(state))
    },
    onReading: () => Promise.resolve(),
    toProblem: (error) => {
      const { code, kind, message } = toAppError(error)
      return { code, kind, message, details: {} }
    }
  })
  return { link, states, next: () => new Promise((resolve) => listeners.push(resolve)) }
}

const store = { kind: 'sqlite' } as TaskStore
const ready = (onClose: () => void = () => undefined): Opening => ({
  status: 'ready',
  queue: { store, close: () => Promise.resolve(onClose()) }
})

describe('queue link', () => {
  it('is live after the first reading, and its store can be used', async () => {
    const { link, next } = setup(
      () => Promise.resolve(ready()),
      () => Promise.resolve({ reading, nextInMs: 2_000 })
    )
    const live = next()
    link.start()
    expect(await live).toEqual({ status: 'live', lastReadingAt: 1_000 })
    expect(await link.store()).toBe(store)
    await link.stop()
  })

  it('waits longer after each failure, and says since when and why', async () => {
    const { link, next, states } = setup(
      () => Promise.reject(refused),
      () => Promise.reject(refused)
    )
    let lost = next()
    link.start()
    for (let n = 0; n < 7; n++) {
      await lost
      lost = next()
      link.retryNow()
    }
    await lost
    await link.stop()
    expect(states.map((s) => s.status === 'lost' && s.nextTryAt - 1_000)).toEqual([
      1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000
    ])
    expect(states[0]).toMatchObject({ status: 'lost', since: null, failures: 1, problem: { code: 'CONNECTION_REFUSED' } })
  })

  it('opens anew after a lost link and is live again by itself', async () => {
    let opens = 0
    let closes = 0
    let looks = 0
    const { link, next } = setup(
      () => {
        opens += 1
        return Promise.resolve(ready(() => (closes += 1)))
      },
      () => (++looks === 2 ? Promise.reject(refused) : Promise.resolve({ reading, nextInMs: 2_000 }))
    )
    const live = next()
    link.start()
    await live
    const lost = next()
    link.retryNow()
    expect(await lost).toMatchObject({ status: 'lost', since: 1_000 })
    await expect(link.store()).rejects.toMatchObject({ code: 'CONNECTION_REFUSED' })
    const again = next()
    link.retryNow()
    expect((await again).status).toBe('live')
    expect([opens, closes]).toEqual([2, 1])
    await link.stop()
    expect(closes).toBe(2)
  })

  it('keeps what is open when only a statement failed', async () => {
    let opens = 0
    let looks = 0
    const slow = new AppError('STATEMENT_TIMEOUT', 'operational', 'Too slow.')
    const { link, next } = setup(
      () => {
        opens += 1
        return Promise.resolve(ready())
      },
      () => (++looks === 1 ? Promise.reject(slow) : Promise.resolve({ reading, nextInMs: 2_000 }))
    )
    const lost = next()
    link.start()
    expect((await lost).status).toBe('lost')
    expect(await link.store()).toBe(store)
    const live = next()
    link.retryNow()
    expect((await live).status).toBe('live')
    expect(opens).toBe(1)
    await link.stop()
  })

  it('does not try a wrong password every second', async () => {
    const wrong = new AppError('LOGIN_REFUSED', 'user', 'Wrong user or password.')
    const { link, next } = setup(
      () => Promise.reject(wrong),
      () => Promise.reject(wrong)
    )
    const lost = next()
    link.start()
    const state = await lost
    expect(state.status === 'lost' && state.nextTryAt - 1_000).toBe(60_000)
    await link.stop()
  })

  it.each([
    [{ status: 'locked' } as const, 'LOGIN_REFUSED'],
    [{ status: 'schema', schema: 'missing', version: 0, latest: 1 } as const, 'SCHEMA_MISSING'],
    [{ status: 'schema', schema: 'newer', version: 9, latest: 1 } as const, 'SCHEMA_NEWER']
  ])('waits in %o, and looks again when it is told', async (obstacle, code) => {
    const openings: Opening[] = [obstacle, ready()]
    const { link, next } = setup(
      () => Promise.resolve(openings.shift() ?? ready()),
      () => Promise.resolve({ reading, nextInMs: 2_000 })
    )
    const state = next()
    link.start()
    expect(await state).toEqual(obstacle)
    await expect(link.store()).rejects.toMatchObject({ code, kind: 'user' })
    const live = next()
    link.retryNow()
    expect((await live).status).toBe('live')
    await link.stop()
  })

  it('closes a queue that opens after its deadline', async () => {
    let finish: (opening: Opening) => void = () => undefined
    let closed: () => void = () => undefined
    const isClosed = new Promise<void>((resolve) => (closed = resolve))
    const clock: Clock = { ...systemClock, sleep: (ms, signal) => systemClock.sleep(ms === 30_000 ? 1 : ms, signal) }
    const states: LinkState[] = []
    const link = new QueueLink({
      clock,
      open: () => new Promise((resolve) => (finish = resolve)),
      look: () => Promise.resolve({ reading, nextInMs: 1 }),
      onState: (state) => states.push(state),
      onReading: () => Promise.resolve(),
      toProblem: () => ({ code: 'CONNECT_TIMEOUT', kind: 'operational', message: '', details: {} })
    })
    link.start()
    await link.settled()
    expect(states[0]?.status).toBe('lost')
    finish(ready(closed))
    await isClosed
    await link.stop()
  })
})
