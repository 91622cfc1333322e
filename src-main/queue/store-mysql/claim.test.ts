import { expect, it } from 'vitest'
import { AppError, systemClock, type Clock, type SqlDatabase, type SqlResult, type SqlRow } from '../../kernel/index.ts'
import { nextGroup } from './claim-groups.ts'
import { lockGroup } from './claim-lanes.ts'
import { Claims } from './claim.ts'
import { countLeased, lockAvailableGates } from './gates.ts'

const due = '2026-01-31 12:00:00.000000'
const taskRow = (id: string): SqlRow => ({
  ...{ id, type: 't', payload: '{}', title: '', owner: '', business_key: null, attempt: 0, attempts_used: 0 },
  ...{ max_attempts: 5, retry_policy: '{}', timeout_ms: null, checkpoint: null, idempotency_hash: null },
  ...{ created_at: due, run_at: due }
})
const rows = (...found: SqlRow[]): SqlResult => ({ rows: found, affectedRows: 0, insertId: '0' })

const away = (): AppError => new AppError('CONNECTION_LOST', 'operational', 'The server is away.')

interface Server {
  isAway: boolean
  /** The next look finds the groups, and the server is gone before it says what limits them. */
  losesPolicies: boolean
  /** Running tasks of the type at most, and those that run. */
  limit: number | null
  running: number
  looks: number
  transactions: number
}

/** A server with one group and two tasks, whose groups can be looked up only until it `isAway`. */
function setup(): { claims: Claims; server: Server } {
  const server: Server = { isAway: false, losesPolicies: false, limit: null, running: 0, looks: 0, transactions: 0 }
  const tasks = ['1', '2']
  let now = 0
  // Each look takes a while, so that its groups stay known for a while.
  const clock: Clock = { ...systemClock, monotonic: () => now++ }
  const execute = (sql: string, values: readonly unknown[] = []): Promise<SqlResult> => {
    if (sql === nextGroup && server.isAway) return Promise.reject(away())
    if (sql === nextGroup && values[0] === 0) server.looks++
    if (sql === nextGroup)
      return Promise.resolve(values[0] === 0 ? rows({ claim_rank: 5, type: 't', run_at: due, due: 1 }) : rows())
    if (sql === lockGroup) return Promise.resolve(rows(...tasks.splice(0, Number(values.at(-1))).map(taskRow)))
    if (sql.includes('FROM taskdeck_policy') && server.losesPolicies) {
      server.losesPolicies = false
      return Promise.reject(away())
    }
    if (sql.includes('FROM taskdeck_policy') && server.limit !== null)
      return Promise.resolve(rows(limitOf(server.limit)))
    if (sql === lockAvailableGates(2))
      return Promise.resolve(rows({ name: 't', amount: 0, at_us: null, taken: null, now_us: 0 }))
    if (sql === countLeased) return Promise.resolve(rows({ type: 't', owner: '', n: server.running }))
    return Promise.resolve({ ...rows(), affectedRows: 1 })
  }
  const transaction: SqlDatabase['transaction'] = (work) => {
    server.transactions++
    return work({ execute })
  }
  const database: Pick<SqlDatabase, 'execute' | 'transaction'> = { execute, transaction }
  return { claims: new Claims(database as SqlDatabase, clock), server }
}

const limitOf = (mostRunning: number): SqlRow => ({
  ...{ scope: 'TYPE', name: 't', enabled: null, max_running: mostRunning, max_unfinished: null, rate_count: null },
  ...{ rate_period_ms: null, max_attempts: null, retry_policy: null, retries_per_minute: null, timeout_ms: null },
  ...{ lease_ms: null, fair: null }
})

const request = { workerId: 'w', leaseMs: 1_000, types: ['t'] }

it('hands over what it has claimed when looking for more fails', async () => {
  const { claims, server } = setup()
  expect(await claims.claim({ ...request, limit: 1 })).toMatchObject([{ fence: { taskId: '1' } }])
  server.isAway = true
  expect(await claims.claim({ ...request, limit: 2 })).toMatchObject([{ fence: { taskId: '2' } }])
  await expect(claims.claim({ ...request, limit: 2 })).rejects.toMatchObject({ code: 'CONNECTION_LOST' })
})

it('neither looks nor begins again for what a limit kept from it', async () => {
  const { claims, server } = setup()
  server.limit = 1
  const told: string[][] = []
  const claim = (): ReturnType<Claims['claim']> =>
    claims.claim({ ...request, limit: 2, onLimited: ({ types }) => told.push([...types]) })
  expect(await claim()).toMatchObject([{ fence: { taskId: '1' } }])
  const before = { ...server }
  expect(await claim()).toMatchObject([{ fence: { taskId: '2' } }])
  expect(told).toEqual([['t'], ['t']])
  expect([server.looks - before.looks, server.transactions - before.transactions]).toEqual([0, 1])
  // With nothing at all it looks for others.
  server.running = 1
  expect(await claim()).toEqual([])
  expect(server.looks - before.looks).toBe(1)
})

it('claims nothing by groups whose limits could not be read, nor by a look that is not over', async () => {
  const { claims, server } = setup()
  Object.assign(server, { limit: 1, running: 1, losesPolicies: true })
  await expect(claims.claim({ ...request, limit: 1 })).rejects.toMatchObject({ code: 'CONNECTION_LOST' })
  const both = [claims.claim({ ...request, limit: 1 }), claims.claim({ ...request, limit: 1 })]
  expect(await Promise.all(both)).toEqual([[], []])
})
