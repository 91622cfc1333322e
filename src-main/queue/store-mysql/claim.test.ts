import { expect, it } from 'vitest'
import { AppError, systemClock, type Clock, type SqlDatabase, type SqlResult, type SqlRow } from '../../kernel/index.ts'
import { nextGroup } from './claim-groups.ts'
import { lockGroup } from './claim-lanes.ts'
import { Claims } from './claim.ts'

const due = '2026-01-31 12:00:00.000000'
const taskRow = (id: string): SqlRow => ({
  ...{ id, type: 't', payload: '{}', title: '', owner: '', business_key: null, attempt: 0, attempts_used: 0 },
  ...{ max_attempts: 5, retry_policy: '{}', timeout_ms: null, checkpoint: null, idempotency_hash: null },
  ...{ created_at: due, run_at: due }
})
const rows = (...found: SqlRow[]): SqlResult => ({ rows: found, affectedRows: 0, insertId: '0' })

/** A server with one group and two tasks, whose groups can be looked up only until it `isAway`. */
function setup(): { claims: Claims; server: { isAway: boolean } } {
  const server = { isAway: false }
  const tasks = ['1', '2']
  let now = 0
  // Each look takes a while, so that its groups stay known for a while.
  const clock: Clock = { ...systemClock, monotonic: () => now++ }
  const execute = (sql: string, values: readonly unknown[] = []): Promise<SqlResult> => {
    if (sql === nextGroup && server.isAway)
      return Promise.reject(new AppError('CONNECTION_LOST', 'operational', 'The server is away.'))
    if (sql === nextGroup)
      return Promise.resolve(values[0] === 0 ? rows({ claim_rank: 5, type: 't', run_at: due, due: 1 }) : rows())
    if (sql === lockGroup) return Promise.resolve(rows(...tasks.splice(0, Number(values.at(-1))).map(taskRow)))
    return Promise.resolve({ ...rows(), affectedRows: 1 })
  }
  const database: Pick<SqlDatabase, 'execute' | 'transaction'> = { execute, transaction: (work) => work({ execute }) }
  return { claims: new Claims(database as SqlDatabase, clock), server }
}

const request = { workerId: 'w', leaseMs: 1_000, types: ['t'] }

it('hands over what it has claimed when looking for more fails', async () => {
  const { claims, server } = setup()
  expect(await claims.claim({ ...request, limit: 1 })).toMatchObject([{ fence: { taskId: '1' } }])
  server.isAway = true
  expect(await claims.claim({ ...request, limit: 2 })).toMatchObject([{ fence: { taskId: '2' } }])
  await expect(claims.claim({ ...request, limit: 2 })).rejects.toMatchObject({ code: 'CONNECTION_LOST' })
})
