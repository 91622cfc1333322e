import { beforeEach, expect, it } from 'vitest'
import type { DatabaseEvent } from '../../contract/index.ts'
import { AppError, type DatabaseHealth } from '../../kernel/index.ts'
import { ManualClock, settled } from '../../queue/manual-clock.fixture.ts'
import { DatabaseWatches } from './database-watches.ts'

let clock: ManualClock
let identity: (id: string) => string
let look: () => Promise<DatabaseHealth>
let opened: number
let closed: number
let looks: number
let watches: DatabaseWatches

const health = (costMs = 5): DatabaseHealth => ({
  kind: 'sqlite',
  at: clock.now(),
  costMs,
  version: '3',
  fileBytes: 1,
  walBytes: 0,
  pageBytes: 4096,
  pages: 1,
  freePages: 0,
  journalMode: 'wal',
  plans: [],
  tables: { status: 'known', at: 0, value: [] },
  indexes: { status: 'known', at: 0, value: [] }
})

beforeEach(() => {
  clock = new ManualClock()
  identity = () => 'one'
  look = () => Promise.resolve(health())
  opened = closed = looks = 0
  watches = new DatabaseWatches({
    clock,
    identity: (id) => identity(id),
    open: () => {
      opened++
      const close = (): Promise<void> => {
        closed++
        return Promise.resolve()
      }
      return Promise.resolve({ look: () => (looks++, look()), close })
    },
    toProblem: (error) => {
      const { code, kind, message } = error as AppError
      return { code, kind, message, details: {} }
    }
  })
})

/** A page that listens until it leaves. */
function page(id = 'main') {
  const leaver = new AbortController()
  const events: DatabaseEvent[] = []
  const ended = (async () => {
    for await (const event of watches.watch(id, leaver.signal)) events.push(event)
  })()
  ended.catch(() => undefined)
  return { events, ended, leave: () => leaver.abort() }
}
const seenAt = (events: readonly DatabaseEvent[]): (number | string)[] =>
  events.map((event) => (event.status === 'seen' ? event.health.at : event.problem.code))

it('looks at once and then every 5 s, and not after the page has left', async () => {
  const one = page()
  await clock.advance(10_000)
  expect(seenAt(one.events)).toEqual([0, 5_000, 10_000])
  one.leave()
  await one.ended
  await clock.advance(60_000)
  expect(looks).toBe(3)
  expect([opened, closed]).toEqual([1, 1])
})

it('looks once for all pages; a later one has the last picture at once', async () => {
  const [one, two] = [page(), page()]
  await clock.advance(6_000)
  const late = page()
  await settled()
  expect(seenAt(late.events)).toEqual([5_000])
  expect(seenAt(two.events)).toEqual(seenAt(one.events))
  expect([opened, looks]).toEqual([1, 2])
  one.leave()
  two.leave()
  await clock.advance(5_000)
  expect(seenAt(late.events)).toEqual([5_000, 10_000])
  late.leave()
})

it('begins no second look while one is under way', async () => {
  look = () => new Promise(() => undefined)
  const one = page()
  await clock.advance(60_000)
  expect(looks).toBe(1)
  one.leave()
  await one.ended
  expect(closed).toBe(1)
})

it('a dear look is seldom', async () => {
  look = () => Promise.resolve(health(400))
  const one = page()
  await clock.advance(19_999)
  expect(looks).toBe(1)
  await clock.advance(1)
  expect(looks).toBe(2)
  one.leave()
})

it('says what failed and when it tries again, ever later, until it goes well', async () => {
  look = () => Promise.reject(new AppError('CONNECTION_LOST', 'operational', 'gone'))
  const one = page()
  await clock.advance(16_000)
  expect(seenAt(one.events)).toEqual(['CONNECTION_LOST', 'CONNECTION_LOST', 'CONNECTION_LOST'])
  expect(one.events.map((event) => event.status === 'failed' && event.nextTryAt)).toEqual([5_000, 15_000, 35_000])
  expect([opened, closed]).toEqual([3, 3])
  look = () => Promise.resolve(health())
  await clock.advance(24_000)
  expect(seenAt(one.events).slice(3)).toEqual([35_000, 40_000])
  one.leave()
})

it('opens anew when another database is meant', async () => {
  const one = page()
  await clock.advance(5_000)
  identity = () => 'two'
  await clock.advance(5_000)
  expect([opened, closed]).toEqual([2, 1])
  one.leave()
})

it('ends with the connection', async () => {
  const one = page()
  await clock.advance(0)
  identity = () => {
    throw new AppError('NOT_FOUND', 'user', 'gone')
  }
  await clock.advance(5_000)
  await expect(one.ended).rejects.toMatchObject({ code: 'NOT_FOUND' })
  expect(closed).toBe(1)
  await expect(page().ended).rejects.toMatchObject({ code: 'NOT_FOUND' })
})

it('closes what opens after the page has left', async () => {
  const one = page()
  one.leave()
  await one.ended
  await settled()
  expect(closed).toBe(opened)
})
