import { expect, it } from 'vitest'
import { hostOf, tieOf, tiesOfPair } from './worker-ties.ts'

const workers = [
  { id: 'imp-01', host: 'clinic-worker-1' },
  { id: 'imp-02', host: 'clinic-worker-1' },
  { id: 'gen-01', host: 'db-primary' }
]
const tie = (host: string | null, leaseHolder: string | null = null) =>
  tieOf({ host, serverHost: 'db-primary.example', leaseHolder }, workers)

it('a session on a host with workers may be any of them', () => {
  expect(tie('clinic-worker-1.lan')).toEqual({ workers: ['imp-01', 'imp-02'], tie: 'host' })
})

it('the worker of that host that leases the row is as good as known', () => {
  expect(tie('clinic-worker-1', 'imp-02')).toEqual({ workers: ['imp-02'], tie: 'lease' })
  expect(tie('clinic-worker-1', 'gen-01')).toEqual({ workers: ['imp-01', 'imp-02'], tie: 'host' })
})

it('a local session is on the host of the server', () => {
  expect(tie('localhost')).toEqual({ workers: ['gen-01'], tie: 'host' })
})

it('an address, an unknown host and a session that may not be seen are tied to nobody', () => {
  for (const host of ['10.0.0.7', 'fe80::1', 'other', null])
    expect(tie(host, 'imp-01')).toEqual({ workers: [], tie: 'none' })
})

it('of two sessions over one leased row at most one is tied to its worker', () => {
  const pair = (one: string, other: string) =>
    tiesOfPair([one, other], { serverHost: null, leaseHolder: 'imp-02' }, workers).map(({ tie: found }) => found)
  expect(pair('clinic-worker-1', 'db-primary')).toEqual(['lease', 'host'])
  expect(pair('clinic-worker-1', 'elsewhere')).toEqual(['lease', 'none'])
  expect(pair('clinic-worker-1', 'clinic-worker-1')).toEqual(['host', 'host'])
})

it('the host of a session has no port', () => {
  expect(hostOf('10.0.0.7:51234')).toBe('10.0.0.7')
  expect(hostOf('[fe80::1]:51234')).toBe('fe80::1')
  expect(hostOf('localhost')).toBe('localhost')
  expect(hostOf('')).toBeNull()
})
