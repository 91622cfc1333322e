import type { WorkerTie } from '../../kernel/index.ts'

/** Where a worker says that it runs. */
export interface WorkerPlace {
  readonly id: string
  readonly host: string
}

export interface Tied {
  readonly workers: string[]
  readonly tie: WorkerTie
}

const loopback: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '::1'])

/**
 * Which workers a session may belong to. The server knows a session's host and nothing of workers: the host's workers are candidates, and
 * the one of them that holds the lease of the row in question is as good as known. A server that does not resolve names tells
 * addresses, and then nothing is claimed.
 */
export function tieOf(
  session: { readonly host: string | null; readonly serverHost: string | null; readonly leaseHolder: string | null },
  workers: readonly WorkerPlace[]
): Tied {
  if (session.host === null) return { workers: [], tie: 'none' }
  const host = loopback.has(session.host) ? session.serverHost : session.host
  const there = workers.filter((worker) => host !== null && isSameHost(worker.host, host)).map(({ id }) => id)
  const holder = there.find((id) => id === session.leaseHolder)
  if (holder !== undefined) return { workers: [holder], tie: 'lease' }
  return { workers: there.slice(0, 10), tie: there.length > 0 ? 'host' : 'none' }
}

/** Of two sessions that meet over a leased row at most one is its worker's: from the same host, nobody can tell which. */
export function tiesOfPair(
  hosts: readonly [string | null, string | null],
  facts: { readonly serverHost: string | null; readonly leaseHolder: string | null },
  workers: readonly WorkerPlace[]
): readonly [Tied, Tied] {
  const tie = (host: string | null, leaseHolder: string | null): Tied => tieOf({ ...facts, host, leaseHolder }, workers)
  const [one, other] = hosts
  const ties = [tie(one, facts.leaseHolder), tie(other, facts.leaseHolder)] as const
  return ties.every((found) => found.tie === 'lease') ? [tie(one, null), tie(other, null)] : ties
}

/** Names, with or without their domain. */
function isSameHost(a: string, b: string): boolean {
  const [one, other] = [a.toLowerCase(), b.toLowerCase()]
  if (one === other) return one !== ''
  const isName = (host: string): boolean => /[a-z]/.test(host) && !host.includes(':')
  return isName(one) && isName(other) && one.split('.')[0] === other.split('.')[0]
}

/** `10.0.0.7:51234` without its port. */
export const hostOf = (processHost: string | null): string | null => {
  if (processHost === null || processHost === '') return null
  return processHost.replace(/:\d+$/, '').replace(/^\[|\]$/g, '')
}
