import { beforeEach, describe, expect, it } from 'vitest'
import { AppError, type Clock, type ErrorCode, type SqlResult, type SqlRunner } from '../kernel/index.ts'
import { runTransaction, type TransactionHost, type TransactionSession } from './transaction.ts'

const empty: SqlResult = { rows: [], affectedRows: 0, insertId: '0' }
const problem = (code: ErrorCode): AppError => new AppError(code, 'operational', code)

/** What the server answers to the next statement with this text: an error, once each. */
const answers: { text: string; code: ErrorCode }[] = []
/** All that was sent, with the number of its session. */
const sent: string[] = []
let endedOnServer: boolean[] = []
let sessions: FakeSession[] = []

class FakeSession implements TransactionSession {
  isBroken = false
  tainted = false
  commitsEach = false
  readonly number = sessions.push(this)
  command = (sql: string): Promise<SqlResult> => this.execute(sql)
  begin = (): Promise<void> => this.execute('begin').then(() => undefined)
  commitEach(): Promise<void> {
    this.commitsEach = true
    return Promise.resolve()
  }
  execute(sql: string): Promise<SqlResult> {
    sent.push(`${this.number} ${sql}`)
    const index = answers.findIndex(({ text }) => text === sql)
    if (index < 0) return Promise.resolve(empty)
    const [answer] = answers.splice(index, 1)
    const error = problem(answer!.code)
    if (error.code === 'CONNECTION_LOST' || error.code === 'SERVER_READ_ONLY') this.isBroken = true
    return Promise.reject(error)
  }
  destroy(): void {
    this.isBroken = true
  }
}

class FakeHost implements TransactionHost<FakeSession> {
  accessMode: 'read-only' | 'read-write' = 'read-write'
  readonly waits: number[] = []
  time = 0
  readonly clock: Clock = {
    now: () => this.time,
    monotonic: () => this.time,
    random: () => 0.5,
    sleep: (ms) => {
      this.waits.push(ms)
      this.time += ms
      return Promise.resolve()
    }
  }
  private idle: FakeSession[] = []
  acquire = (): Promise<FakeSession> => Promise.resolve(this.idle.pop() ?? new FakeSession())
  release(session: FakeSession): void {
    if (!session.isBroken) this.idle.push(session)
  }
  sessionLost(): void {
    this.idle = []
  }
  endOnServer = (): Promise<boolean> => Promise.resolve(endedOnServer.shift() ?? true)
}

let host: FakeHost
let runs: number
const work = async (runner: SqlRunner): Promise<string> => {
  runs += 1
  await runner.execute('UPDATE a')
  await runner.execute('UPDATE b')
  return `run ${runs}`
}
const code = (result: Promise<unknown>): Promise<unknown> => result.catch((error: AppError) => error.code)

beforeEach(() => {
  answers.length = 0
  sent.length = 0
  endedOnServer = []
  sessions = []
  host = new FakeHost()
  runs = 0
})

describe('runTransaction', () => {
  it.each(['DEADLOCK', 'LOCK_TIMEOUT'] as const)('rolls back after %s and runs the whole again', async (error) => {
    answers.push({ text: 'UPDATE b', code: error })
    expect(await runTransaction(host, work, {})).toBe('run 2')
    expect(sent.map((line) => line.slice(2))).toEqual([
      'begin',
      'UPDATE a',
      'UPDATE b',
      'ROLLBACK',
      'begin',
      'UPDATE a',
      'UPDATE b',
      'COMMIT'
    ])
    expect(host.waits).toEqual([5])
  })

  it('runs again after a deadlock at the commit (FAULTS 8)', async () => {
    answers.push({ text: 'COMMIT', code: 'DEADLOCK' })
    expect(await runTransaction(host, work, {})).toBe('run 2')
  })

  it('stops after its retries, with growing waits between', async () => {
    for (let n = 0; n < 3; n += 1) answers.push({ text: 'UPDATE a', code: 'DEADLOCK' })
    expect(await code(runTransaction(host, work, { retries: 2 }))).toBe('DEADLOCK')
    expect([runs, host.waits]).toEqual([3, [5, 10]])
  })

  it('sends nothing but ROLLBACK after a deadlock that the work has caught', async () => {
    answers.push({ text: 'UPDATE a', code: 'DEADLOCK' })
    const stubborn = async (runner: SqlRunner): Promise<void> => {
      await Promise.allSettled([runner.execute('UPDATE a'), runner.execute('UPDATE b')])
      await runner.execute('UPDATE c').catch(() => undefined)
    }
    expect(await code(runTransaction(host, stubborn, { retries: 0 }))).toBe('DEADLOCK')
    expect(sent).toEqual(['1 begin', '1 UPDATE a', '1 ROLLBACK'])
  })

  it('lets the work go on after an error that leaves the transaction open', async () => {
    answers.push({ text: 'UPDATE a', code: 'SQL_FAILED' })
    const tolerant = async (runner: SqlRunner): Promise<void> => {
      await runner.execute('UPDATE a').catch(() => undefined)
      await runner.execute('UPDATE b')
    }
    await runTransaction(host, tolerant, {})
    expect(sent.at(-1)).toBe('1 COMMIT')
  })

  it('does not repeat after a lost connection or a read-only server, nor keep that session', async () => {
    for (const error of ['CONNECTION_LOST', 'SERVER_READ_ONLY'] as const) {
      answers.push({ text: 'UPDATE a', code: error })
      expect(await code(runTransaction(host, work, {}))).toBe(error)
    }
    await runTransaction(host, work, {})
    expect(sessions).toHaveLength(3)
    expect(sent).not.toContain('1 ROLLBACK')
  })

  it('ends a session that cannot roll back', async () => {
    answers.push({ text: 'UPDATE a', code: 'SQL_FAILED' }, { text: 'ROLLBACK', code: 'SQL_FAILED' })
    expect(await code(runTransaction(host, work, {}))).toBe('SQL_FAILED')
    expect(sessions[0]?.isBroken).toBe(true)
  })
})

describe('a commit without a reply', () => {
  beforeEach(() => void answers.push({ text: 'COMMIT', code: 'CONNECTION_LOST' }))
  const asked = async (runner: SqlRunner): Promise<void> => void (await runner.execute('SELECT token'))

  it('is unknown when nobody can be asked', async () => {
    expect(await code(runTransaction(host, work, {}))).toBe('COMMIT_UNKNOWN')
  })

  it('is settled on a fresh session: committed', async () => {
    const readBack = async (runner: SqlRunner): Promise<string> => asked(runner).then(() => 'it is there')
    expect(await runTransaction(host, work, { readBack })).toBe('it is there')
    // Not the beginning of a transaction that nobody ends.
    expect([runs, sent.at(-1), sessions[1]?.commitsEach]).toEqual([1, '2 SELECT token', true])
  })

  it('is settled on a fresh session: not committed, so it runs again', async () => {
    expect(await runTransaction(host, work, { readBack: () => Promise.resolve(undefined) })).toBe('run 2')
  })

  it('asks only once the old connection is gone, for it may still commit', async () => {
    endedOnServer = [false, false, true]
    const readBack = (): Promise<string> => Promise.resolve(`after ${endedOnServer.length}`)
    expect(await runTransaction(host, work, { readBack })).toBe('after 0')
    expect(host.waits).toEqual([250, 250])
  })

  it('keeps asking while the server is down, but not for ever', async () => {
    let asks = 0
    const readBack = (): Promise<never> => {
      asks += 1
      return Promise.reject(problem('CONNECTION_REFUSED'))
    }
    expect(await code(runTransaction(host, work, { readBack }))).toBe('COMMIT_UNKNOWN')
    expect([asks > 50, host.time <= 20_000]).toEqual([true, true])
  })

  it('is settled in the same way when the server answered with an error that leaves it open', async () => {
    answers[0] = { text: 'COMMIT', code: 'STATEMENT_TIMEOUT' }
    expect(await runTransaction(host, work, { readBack: () => Promise.resolve('there') })).toBe('there')
    expect(sessions[0]?.isBroken).toBe(true)
  })

  it('or a refused one leaves no transaction open on a session that goes on, also when nothing was written', async () => {
    host.accessMode = 'read-only'
    answers[0] = { text: 'COMMIT', code: 'SQL_FAILED' }
    expect(await runTransaction(host, (runner) => runner.execute('SELECT 1'), {})).toBe(empty)
    expect(sent.at(-1)).toBe('1 ROLLBACK')
  })

  it('does not matter when nothing was written', async () => {
    host.accessMode = 'read-only'
    const reading = (runner: SqlRunner): Promise<SqlResult> => runner.execute('SELECT 1')
    expect(await runTransaction(host, reading, {})).toBe(empty)
    expect(sessions[0]?.isBroken).toBe(true)
  })
})
