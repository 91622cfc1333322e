import { expect, it } from 'vitest'
import type { ConnectionView, LinkState, QueueReading } from '@contract'
import type { SeriesRing } from '@/state/series-ring.ts'
import { overviewState } from './overview-state.ts'

const reading = { depth: [{ type: 'a', state: 'QUEUED', count: 1 }], flow: [], workers: [] } as unknown as QueueReading
const ring = { times: [] } as unknown as SeriesRing
const on = (link: LinkState): { loaded: boolean; current: ConnectionView } => ({
  loaded: true,
  current: { link } as ConnectionView
})
const lost: LinkState = {
  status: 'lost',
  since: 1,
  nextTryAt: 2,
  failures: 1,
  problem: { code: 'CONNECTION_LOST', kind: 'operational', message: '', details: {} }
}

it.each<[string, LinkState]>([
  ['locked', { status: 'locked', problem: null }],
  ['lost', lost]
])('keeps the last picture of a %s connection, and is blocked only without one', (_name, link) => {
  expect(overviewState(on(link), ring, reading, null)).toBe('picture')
  expect(overviewState(on(link), null, null, null)).toBe('blocked')
})

it('is blocked where the tables are missing, whatever was known', () => {
  const link: LinkState = { status: 'schema', schema: 'missing', version: 0, latest: 1 }
  expect(overviewState(on(link), ring, reading, null)).toBe('blocked')
})
