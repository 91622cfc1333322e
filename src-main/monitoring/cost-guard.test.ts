import { beforeEach, describe, expect, it } from 'vitest'
import {
  AppError,
  explain,
  systemClock,
  type Clock,
  type Probe,
  type SqlDatabase,
  type SqlRow
} from '../kernel/index.ts'
import { createCostGuard } from './cost-guard.ts'
import { beginning } from './server-status.ts'

/** A server that answers from a list, and takes as long as the test says. */
class ScriptedServer {
  now = 0
  /** Of each statement, beside its own time. */
  latencyMs = 0
  tableRows: number | null = 1_000
  handlerReads = 0
  session = '7'
  /** By the statement's beginning. */
  readonly takesMs = new Map<string, number>()
  readonly fails = new Map<string, AppError>()
  readonly plans = new Map<string, SqlRow[]>()
  readonly asked: string[] = []
  readonly clock: Clock = { ...systemClock, monotonic: () => this.now }

  readonly database: SqlDatabase = {
    flavour: 'mariadb',
    serverVersion: '10.11',
    execute: (sql) => {
      this.asked.push(sql.trim())
      this.now += this.latencyMs + (this.takesMs.get(sql) ?? 0)
      const failure = this.fails.get(sql.replace(explain(''), ''))
      if (failure) return Promise.reject(failure)
      return Promise.resolve({ rows: this.answer(sql.trim()), affectedRows: 0, insertId: '0' })
    },
    transaction: () => Promise.reject(new Error('probes need none')),
    close: () => Promise.resolve()
  }

  private answer(sql: string): SqlRow[] {
    if (sql.startsWith('SELECT NOW'))
      return [{ now: '2026-11-30 02:00:00.000000', session: this.session, most_sessions: 151 }]
    if (sql.includes('information_schema'))
      return [{ probed: 'task', estimate: this.tableRows === null ? null : String(this.tableRows) }]
    if (sql.startsWith('EXPLAIN')) return this.plans.get(sql.slice(explain('').length)) ?? [cheapStep]
    if (!sql.startsWith('SHOW')) return [{ n: 1 }]
    return [
      { Variable_name: 'Handler_read_next', Value: String(this.handlerReads) },
      { Variable_name: 'Threads_connected', Value: '12' },
      { Variable_name: 'Threads_running', Value: '3' }
    ]
  }
}

const cheapStep: SqlRow = { table: 'task', type: 'range', rows: '10', Extra: 'Using index' }
const fullScan: SqlRow = { table: 'task', type: 'ALL', rows: '5000000', Extra: '' }
const probe = (name: string): Probe => ({
  name,
  sql: `SELECT ${name}`,
  tables: ['task'],
  index: `CREATE INDEX ${name}`
})
const failed = (code: AppError['code'], errno?: number): AppError =>
  new AppError(code, 'operational', code, { details: errno === undefined ? {} : { errno } })

let server: ScriptedServer
beforeEach(() => {
  server = new ScriptedServer()
})
const guardOf = (budget = { ms: 1_000, rows: 1_000_000 }) =>
  createCostGuard({ database: server.database, clock: server.clock, budget })

/** One round over these probes; which of them had rows, and what the round came to. */
async function round(guard: ReturnType<typeof guardOf>, ...names: string[]) {
  const begun = await guard.begin()
  const known: string[] = []
  for (const name of names) if (await begun.rows(probe(name))) known.push(name)
  return { known, ...(await begun.end()) }
}
const explained = (): number => server.asked.filter((sql) => sql.startsWith('EXPLAIN')).length

describe('the plan of a probe', () => {
  it('is read before its first run, and not again while the table stays as large', async () => {
    const guard = guardOf()
    await round(guard, 'depth')
    expect(server.asked.indexOf(explain('SELECT depth'))).toBeLessThan(server.asked.indexOf('SELECT depth'))
    for (let n = 0; n < 4; n++) {
      server.now += 60_000
      await round(guard, 'depth')
    }
    expect(explained()).toBe(1)
  })

  it('is read again after five minutes: an index may be gone, or what is found may have grown', async () => {
    const guard = guardOf()
    await round(guard, 'depth')
    server.plans.set('SELECT depth', [fullScan])
    server.now += 300_000
    const { limits } = await round(guard, 'depth')
    expect(limits).toMatchObject([{ probe: 'depth', reason: 'plan' }])
  })

  it('on a view is judged as on a table of any size', async () => {
    const guard = guardOf()
    server.tableRows = null
    server.plans.set('SELECT depth', [{ table: 'task', type: 'index', rows: '1', Extra: 'Using where' }])
    const { limits } = await round(guard, 'depth')
    expect(limits).toMatchObject([{ probe: 'depth', reason: 'plan' }])
  })

  it('is read again when the table has grown tenfold', async () => {
    const guard = guardOf()
    server.tableRows = 5_000
    await round(guard, 'depth')
    server.tableRows = 49_000
    server.now += 60_000
    await round(guard, 'depth')
    expect(explained()).toBe(1)
    server.tableRows = 50_000
    server.now += 60_000
    await round(guard, 'depth')
    expect(explained()).toBe(2)
  })

  it('keeps the probe from running when it reads everything; the index that would help is named, and once it is there the figure is back', async () => {
    const guard = guardOf()
    server.plans.set('SELECT depth', [fullScan])
    const limit = { probe: 'depth', reason: 'plan', index: 'CREATE INDEX depth' }
    expect(await round(guard, 'depth', 'oldest')).toMatchObject({ known: ['oldest'], limits: [limit] })
    expect(server.asked).not.toContain('SELECT depth')
    server.plans.clear()
    expect((await round(guard, 'depth')).limits).toEqual([limit])
    server.now += 60_000
    expect(await round(guard, 'depth')).toMatchObject({ known: ['depth'], limits: [] })
  })

  it('may be impossible: an index that the statement names is gone', async () => {
    server.fails.set('SELECT depth', failed('SQL_FAILED', 1176))
    const { limits } = await round(guardOf(), 'depth')
    expect(limits).toEqual([{ probe: 'depth', reason: 'plan', index: 'CREATE INDEX depth' }])
  })
})

describe('a failed probe', () => {
  it('that the account may not run leaves the others alone, and is tried again after a minute', async () => {
    const guard = guardOf()
    server.fails.set('SELECT workers', failed('NO_RIGHTS', 1142))
    const limits = [{ probe: 'workers', reason: 'rights', index: null }]
    expect(await round(guard, 'workers', 'depth')).toMatchObject({ known: ['depth'], limits })
    server.fails.clear()
    expect(await round(guard, 'workers')).toMatchObject({ known: [], limits })
    server.now += 60_000
    expect(await round(guard, 'workers')).toMatchObject({ known: ['workers'], limits: [] })
  })

  it('rests for one minute after its time limit, two after the second in a row', async () => {
    const guard = guardOf()
    server.fails.set('SELECT depth', failed('STATEMENT_TIMEOUT', 1969))
    expect((await round(guard, 'depth')).limits).toMatchObject([{ reason: 'timeout' }])
    const runs = (): number => server.asked.filter((sql) => sql.endsWith('SELECT depth')).length
    const first = runs()
    server.now += 59_000
    await round(guard, 'depth')
    expect(runs()).toBe(first)
    server.now += 1_000
    await round(guard, 'depth')
    expect(runs()).toBe(first + 1)
    server.now += 60_000
    await round(guard, 'depth')
    expect(runs()).toBe(first + 1)
    server.now += 60_000
    server.fails.clear()
    expect((await round(guard, 'depth')).known).toEqual(['depth'])
  })

  it('ends the round when a second one runs into its limit: the server is at fault, and no probe rests', async () => {
    const guard = guardOf()
    for (const name of ['depth', 'oldest']) server.fails.set(`SELECT ${name}`, failed('STATEMENT_TIMEOUT', 1969))
    await expect(round(guard, 'depth', 'oldest')).rejects.toMatchObject({ code: 'STATEMENT_TIMEOUT' })
    server.fails.clear()
    expect(await round(guard, 'depth', 'oldest')).toMatchObject({ known: ['depth', 'oldest'], limits: [] })
  })

  it.each([
    ['a lost link', failed('CONNECTION_LOST')],
    ['an answer that never came', failed('STATEMENT_TIMEOUT')],
    ['a locked table', failed('LOCK_TIMEOUT', 1205)]
  ])('ends the round for %s', async (_, error) => {
    server.fails.set('SELECT depth', error)
    await expect(round(guardOf(), 'depth')).rejects.toBe(error)
  })
})

describe('the cost of a round', () => {
  it('is what the server spent, without the way there and back', async () => {
    const guard = guardOf()
    await round(guard, 'depth')
    server.latencyMs = 100
    server.takesMs.set('SELECT depth', 30)
    const { costMs } = await round(guard, 'depth')
    // 1 ms for each of three statements, and 30 for what one of them did.
    expect(costMs).toBe(33)
  })

  it('has the rows that the session read since the round before, also when it is another session', async () => {
    const guard = guardOf()
    server.handlerReads = 500
    expect((await round(guard)).costRows).toBe(500)
    server.handlerReads = 800
    expect((await round(guard)).costRows).toBe(300)
    server.session = '8'
    server.handlerReads = 40
    expect((await round(guard)).costRows).toBe(40)
  })

  it('comes with the load of the server; what that does not tell is unknown', async () => {
    const { server: load } = await round(guardOf())
    expect(load).toEqual({
      sessions: 12,
      mostSessions: 151,
      threadsRunning: 3,
      rowLockWaits: null,
      rowLockTimeMs: null
    })
  })

  it('that spends the budget of the minute leaves out the dearest probe first', async () => {
    const guard = guardOf({ ms: 1_000, rows: 1_000_000 })
    server.takesMs.set('SELECT depth', 500)
    server.takesMs.set('SELECT oldest', 50)
    const limits = [{ probe: 'depth', reason: 'budget', index: null }]
    await round(guard, 'depth', 'oldest') // the first one is not counted
    expect((await round(guard, 'depth', 'oldest')).known).toEqual(['depth', 'oldest'])
    expect(await round(guard, 'depth', 'oldest')).toMatchObject({ known: ['oldest'], limits })
    server.now += 60_000
    expect((await round(guard, 'depth', 'oldest')).limits).toEqual([])
  })

  it('that is the first of all takes nothing from the minute, however dear it was', async () => {
    const guard = guardOf({ ms: 1_000, rows: 1_000_000 })
    server.takesMs.set('SELECT depth', 5_000)
    await round(guard, 'depth', 'oldest')
    server.takesMs.set('SELECT depth', 5)
    expect((await round(guard, 'depth', 'oldest')).limits).toEqual([])
  })

  it('was dear once, alone beyond the budget of a minute: the probe is tried again, for it may be cheap by now', async () => {
    const guard = guardOf({ ms: 1_000, rows: 1_000_000 })
    await round(guard, 'depth', 'oldest')
    server.takesMs.set('SELECT depth', 1_900)
    expect((await round(guard, 'depth', 'oldest')).known).toContain('depth')
    server.takesMs.delete('SELECT depth')
    const minutes: string[][] = []
    for (let minute = 0; minute < 15; minute++) {
      server.now += 60_000
      minutes.push((await round(guard, 'depth', 'oldest')).known)
    }
    expect(minutes.slice(0, 10).flat()).not.toContain('depth')
    expect(minutes.at(-1)).toContain('depth')
  })
})

describe('a slow server', () => {
  /** A guard that knows what its probes usually cost. */
  async function settledGuard() {
    const guard = guardOf({ ms: 100_000, rows: 1_000_000 })
    server.takesMs.set('SELECT depth', 20)
    for (let n = 0; n < 3; n++) expect((await round(guard, 'workers', 'schedules', 'depth')).limits).toEqual([])
    return guard
  }

  it('gets the cheap probes only, until they are as fast as before', async () => {
    const guard = await settledGuard()
    for (const name of ['workers', 'schedules']) server.takesMs.set(`SELECT ${name}`, 150)
    const limits = [{ probe: 'depth', reason: 'slow', index: null }]
    const slow = await round(guard, 'workers', 'schedules', 'depth')
    expect(slow).toMatchObject({ known: ['workers', 'schedules'], limits })
    expect(slow.server).not.toBeNull()
    for (const name of ['workers', 'schedules']) server.takesMs.delete(`SELECT ${name}`)
    expect((await round(guard, 'workers', 'schedules', 'depth')).limits).toEqual([])
  })

  it('is told apart from a single hiccup, and from a slow network', async () => {
    const guard = await settledGuard()
    server.takesMs.set('SELECT workers', 900)
    expect((await round(guard, 'workers', 'schedules', 'depth')).limits).toEqual([])
    server.takesMs.delete('SELECT workers')
    server.latencyMs = 500
    expect((await round(guard, 'workers', 'schedules', 'depth')).limits).toEqual([])
  })
})

it('says that the server does not answer while the session waits for an earlier statement, not that sessions lack', async () => {
  server.fails.set(beginning, failed('POOL_EXHAUSTED'))
  const guard = createCostGuard({ database: server.database, clock: server.clock })
  await expect(guard.begin()).rejects.toMatchObject({ code: 'STATEMENT_TIMEOUT', kind: 'operational' })
})
