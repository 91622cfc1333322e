import { expect, it } from 'vitest'
import type { AlertState, ConnectionView, Problem } from '../../contract/index.ts'
import type { Clock } from '../../kernel/index.ts'
import { emptyReading } from '../../kernel/reading.fixture.ts'
import { connectionView } from './outside.fixture.ts'
import { Watcher } from './watcher.ts'

const problem: Problem = { code: 'CONNECTION_LOST', kind: 'operational', message: 'It is away.', details: {} }
const lost = (failures: number): ConnectionView['link'] => ({
  status: 'lost',
  since: 1,
  nextTryAt: failures * 1_000,
  failures,
  problem
})
const tickOf = (limits: { probe: string; reason: 'budget' | 'slow' | 'schema'; index: null }[] = []) => ({
  connectionId: 'orders',
  seq: 1,
  reading: emptyReading({ limits }),
  points: []
})

function open(views: ConnectionView[] = [connectionView()]) {
  const time = { now: 1_000, monotonic: 50 }
  const clock = { now: () => time.now, monotonic: () => time.monotonic } as Clock
  const alerts = (connectionId: string): AlertState => ({ connectionId, rules: [], open: [], silences: [] })
  const watcher = new Watcher({ clock, connections: () => views, alerts })
  return { watcher, time, views }
}

it('knows the age of a reading whatever the clock on the wall does', () => {
  const { watcher, time } = open()
  watcher.take(tickOf())
  time.now -= 3_600_000
  time.monotonic += 1_500
  expect(watcher.seen()).toMatchObject([{ view: { name: 'Orders' }, ageMs: 1_500, tick: { seq: 1 } }])
})

it('has no figures of a connection that leads elsewhere, and none of one that is gone', () => {
  const { watcher } = open()
  watcher.take(tickOf())
  watcher.forget('orders')
  expect(watcher.seen()).toMatchObject([{ tick: undefined, ageMs: null }])
  watcher.take(tickOf())
  watcher.follow([connectionView({ id: 'other' })])
  watcher.follow([connectionView()])
  expect(watcher.seen()).toMatchObject([{ tick: undefined, ageMs: null }])
})

it('writes down when a link changes, once, not with each retry', () => {
  const { watcher, time } = open()
  for (const link of [connectionView().link, lost(1), lost(2), connectionView().link]) {
    time.now += 1_000
    watcher.follow([connectionView({ link })])
  }
  expect(watcher.entries('orders', 0, 9_000)).toEqual([
    { at: 2_000, what: 'link', text: 'live' },
    { at: 3_000, what: 'link', text: 'lost: CONNECTION_LOST: It is away.' },
    { at: 5_000, what: 'link', text: 'live' }
  ])
  expect(watcher.entries('orders', 3_000, 4_000)).toHaveLength(1)
})

it('writes down when figures are held back and when they are back', () => {
  const { watcher, time } = open()
  const untold = { probe: 'retries', reason: 'schema', index: null } as const
  for (const limits of [[untold], [untold, { probe: 'depth', reason: 'budget', index: null }], [untold]] as const) {
    time.now += 1_000
    watcher.take(tickOf([...limits]))
    watcher.take(tickOf([...limits]))
  }
  expect(watcher.entries('orders', 0, 9_000)).toEqual([
    { at: 3_000, what: 'limits', text: 'held back: depth (budget)' },
    { at: 4_000, what: 'limits', text: 'all figures are as asked again' }
  ])
})

it('keeps the newest 500 changes', () => {
  const { watcher } = open()
  for (let n = 0; n < 1_200; n++) watcher.follow([connectionView({ link: n % 2 ? lost(1) : connectionView().link })])
  expect(watcher.entries('orders', 0, 9_000)).toHaveLength(500)
})
