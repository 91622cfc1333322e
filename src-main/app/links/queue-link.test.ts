import { describe, expect, it } from 'vitest'
import type { LinkState } from '../../contract/index.ts'
import { AppError, toAppError, type Clock, type QueueReading } from '../../kernel/index.ts'
import { emptyReading } from '../../kernel/reading.fixture.ts'
import type { TaskStore } from '../../queue/task-store.ts'
import { QueueLink, type Opening } from './queue-link.ts'

const reading = emptyReading()
const refused = new AppError('CONNECTION_REFUSED', 'operational', 'Nothing listens there.')

/** No pause and no deadline ever ends by itself: `retryNow` moves the link on. */
const stillClock: Clock = {
  now: () => 1_000,
  monotonic: () => 0,
  random: () => 0,
  sleep: (_ms, signal) =>
    new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(new Error('aborted'))))
}

interface Setup {
  readonly link: QueueLink
  readonly seqs: number[]
  /** Resolves with the next state, once the link waits again. */
  readonly next: (act?: () => void) => Promise<LinkState>
}

function setup(open: () => Promise<Opening>, clock = stillClock): Setup {
  const listeners: ((state: LinkState) => void)[] = []
  const seqs: number[] = []
  const link = new QueueLink({
    connectionId: 'a',
    clock,
    lastSeq: 40,
    open,
    onState: (state) => listeners.splice(0).forEach((listener) => listener(state)),
    onTick: (tick) => seqs.push(tick.seq),
    onBug: (error) => {
      throw error
    },
    toProblem: (error) => {
      const { code, kind, message } = toAppError(error)
      return { code, kind, message, details: {} }
    }
  })
  const next = async (act: () => void = () => undefined): Promise<LinkState> => {
    const state = new Promise<LinkState>((resolve) => listeners.push(resolve))
    act()
    const seen = await state
    await new Promise((resolve) => setImmediate(resolve)) // the sampler goes to its pause
    return seen
  }
  return { link, seqs, next }
}

const storeThat = (read: () => Promise<QueueReading>): TaskStore => ({ kind: 'sqlite', read }) as TaskStore
const ready = (store: TaskStore, onClose: () => void = () => undefined): Opening => ({
  status: 'ready',
  queue: { read: (signal) => store.read(signal), store, close: () => Promise.resolve(onClose()) }
})
const good = storeThat(() => Promise.resolve(reading))

describe('queue link', () => {
  it('is live after the first reading, and its store can be used', async () => {
    const { link, next, seqs } = setup(() => Promise.resolve(ready(good)))
    expect(await next(() => link.start())).toEqual({ status: 'live', lastReadingAt: 1_000 })
    expect(await link.store()).toBe(good)
    expect(seqs).toEqual([41])
    await link.stop()
  })

  it('says since when a database is away, why, and when it is tried again', async () => {
    const { link, next } = setup(() => Promise.reject(refused))
    expect(await next(() => link.start())).toEqual({
      status: 'lost',
      since: null,
      failures: 1,
      nextTryAt: 2_000,
      problem: { code: 'CONNECTION_REFUSED', kind: 'operational', message: 'Nothing listens there.', details: {} }
    })
    await expect(link.store()).rejects.toMatchObject({ code: 'CONNECTION_REFUSED' })
    await link.stop()
  })

  it('opens anew after a lost link and is live again by itself', async () => {
    let opens = 0
    let closes = 0
    let reads = 0
    const store = storeThat(() => (++reads === 2 ? Promise.reject(refused) : Promise.resolve(reading)))
    const { link, next } = setup(() => {
      opens += 1
      return Promise.resolve(ready(store, () => (closes += 1)))
    })
    await next(() => link.start())
    expect(await next(() => link.retryNow())).toMatchObject({ status: 'lost', since: 1_000 })
    await expect(link.store()).rejects.toMatchObject({ code: 'CONNECTION_REFUSED' })
    expect((await next(() => link.retryNow())).status).toBe('live')
    expect([opens, closes]).toEqual([2, 1])
    await link.stop()
    expect(closes).toBe(2)
  })

  it('of a table that is not ours is read, and has nothing to list or change', async () => {
    const read = (): Promise<QueueReading> => Promise.resolve(reading)
    const close = (): Promise<void> => Promise.resolve()
    const { link, next, seqs } = setup(() => Promise.resolve({ status: 'ready', queue: { read, store: null, close } }))
    expect((await next(() => link.start())).status).toBe('live')
    expect(seqs).toEqual([41])
    await expect(link.store()).rejects.toMatchObject({ code: 'FOREIGN_TABLE', kind: 'user' })
    await link.stop()
  })

  it('keeps what is open when only a statement failed', async () => {
    let opens = 0
    let reads = 0
    const slow = new AppError('STATEMENT_TIMEOUT', 'operational', 'Too slow.')
    const store = storeThat(() => (++reads === 1 ? Promise.reject(slow) : Promise.resolve(reading)))
    const { link, next } = setup(() => Promise.resolve((opens++, ready(store))))
    expect((await next(() => link.start())).status).toBe('lost')
    expect(await link.store()).toBe(store)
    expect((await next(() => link.retryNow())).status).toBe('live')
    expect(opens).toBe(1)
    await link.stop()
  })

  it('does not try a wrong password every second', async () => {
    let opens = 0
    const pauses: (() => void)[] = []
    const wrong = new AppError('LOGIN_REFUSED', 'user', 'Wrong user or password.')
    const { link, next } = setup(() => Promise.reject(((opens += 1), wrong)), {
      ...stillClock,
      // The sampler's pauses end when the test says so, its deadline never.
      sleep: (ms, signal) =>
        ms <= 2_000 ? new Promise((resolve) => pauses.push(resolve)) : stillClock.sleep(ms, signal)
    })
    expect(await next(() => link.start())).toMatchObject({ status: 'lost', nextTryAt: 61_000 })
    expect(await next(() => pauses.pop()?.())).toMatchObject({ status: 'lost', failures: 2, nextTryAt: 61_000 })
    expect(opens).toBe(1)
    pauses.pop()?.()
    await link.stop()
  })

  it.each([
    [{ status: 'locked', problem: null } as const, 'LOGIN_REFUSED'],
    [{ status: 'schema', schema: 'missing', version: 0, latest: 1 } as const, 'SCHEMA_MISSING'],
    [{ status: 'schema', schema: 'newer', version: 9, latest: 1 } as const, 'SCHEMA_NEWER']
  ])('shows %o instead of a lost link, and looks again when it is told', async (obstacle, code) => {
    const openings: Opening[] = [obstacle, ready(good)]
    const { link, next } = setup(() => Promise.resolve(openings.shift() ?? ready(good)))
    expect(await next(() => link.start())).toEqual(obstacle)
    await expect(link.store()).rejects.toMatchObject({ code, kind: 'user' })
    expect((await next(() => link.retryNow())).status).toBe('live')
    await link.stop()
  })

  it('lets nobody wait for a link that was stopped', async () => {
    const { link } = setup(() => new Promise(() => undefined))
    link.start()
    const asked = expect(link.store()).rejects.toMatchObject({ code: 'CONNECTION_LOST' })
    await link.stop()
    await asked
  })

  it('closes a queue that opens after the link was stopped', async () => {
    let finish: (opening: Opening) => void = () => undefined
    const { link } = setup(() => new Promise((resolve) => (finish = resolve)))
    link.start()
    await link.stop()
    await new Promise<void>((resolve) => finish(ready(good, resolve)))
    expect(link.state).toEqual({ status: 'connecting' })
  })
})
