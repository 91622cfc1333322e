import { beforeEach, describe, expect, it } from 'vitest'
import { AppError, textMask } from '../../kernel/index.ts'
import type { Settlement, SettleResult, TaskStore } from '../task-store.ts'
import { DatabaseState } from './database-state.ts'
import { claimedTask } from './lease.fixture.ts'
import { LeaseBook } from './lease-book.ts'
import { ManualClock } from '../manual-clock.fixture.ts'
import { SettlementWriter } from './settlement-writer.ts'

const away = new AppError('CONNECTION_LOST', 'operational', 'away')
/** As the MySQL adapter reports data that does not fit. */
const refused = new AppError('SQL_FAILED', 'operational', 'The server refused the statement (error 1406), row=7.')

/** A settlement without its fence. */
type Ending = Settlement extends infer One ? (One extends unknown ? Omit<One, 'fence'> : never) : never

describe('SettlementWriter', () => {
  let clock: ManualClock
  let book: LeaseBook
  let writes: string[][]
  let settled: Settlement[]
  let closed: string[]
  let reported: string[]
  let answer: (settlements: readonly Settlement[]) => SettleResult[]
  let writer: SettlementWriter
  let database: DatabaseState

  const end = (taskId: string, leaseMs = 60_000, how: Ending = { outcome: 'SUCCESS', result: null }): void => {
    const claimed = claimedTask({ taskId })
    const lease = book.add(claimed, clock.monotonic() + leaseMs)
    writer.add(lease, { fence: claimed.fence, ...how })
  }
  const accept = (settlements: readonly Settlement[]): SettleResult[] => {
    settled.push(...settlements)
    return settlements.map(({ fence, outcome }) => ({ fence, state: outcome === 'FAILED' ? 'FAILED' : 'SUCCESS' }))
  }
  /** A database that takes nothing of `taskId` that `isRefused`. */
  const refuse = (taskId: string, isRefused: (settlement: Settlement) => boolean = () => true): void => {
    answer = (settlements) => {
      if (settlements.some((settlement) => settlement.fence.taskId === taskId && isRefused(settlement))) throw refused
      return accept(settlements)
    }
  }

  beforeEach(() => {
    clock = new ManualClock()
    book = new LeaseBook(clock)
    writes = []
    settled = []
    closed = []
    reported = []
    answer = accept
    database = new DatabaseState(() => undefined)
    const store: Pick<TaskStore, 'settle'> = {
      settle: (settlements) => {
        writes.push(settlements.map(({ fence }) => fence.taskId))
        return Promise.resolve().then(() => answer(settlements))
      }
    }
    writer = new SettlementWriter({
      store: store as TaskStore,
      clock,
      database,
      book,
      maskText: textMask(['row']),
      beforeSettle: () => Promise.resolve(),
      onRefused: (lease, problem) => reported.push(`${lease.claimed.fence.taskId} ${problem.code}`),
      onClosed: (lease, how) => closed.push(`${lease.claimed.fence.taskId} ${how}`)
    })
    writer.start()
  })

  it('writes together what ends together', async () => {
    for (const id of ['1', '2', '3']) end(id)
    await clock.advance(5)
    expect(writes).toEqual([['1', '2', '3']])
    expect(closed).toEqual(['1 SUCCESS', '2 SUCCESS', '3 SUCCESS'])
    expect(book.size).toBe(0)
  })

  it('has no problem any more once it gave up the last one', async () => {
    answer = () => {
      throw new AppError('LOCK_TIMEOUT', 'operational', 'locked')
    }
    end('1', 1_000)
    await clock.advance(500)
    expect(database.code).toBe('LOCK_TIMEOUT')
    await clock.advance(5_000)
    expect([closed, database.code]).toEqual([['1 given-up'], 'ok'])
  })

  it('repeats the same write while the database is away', async () => {
    answer = () => {
      throw away
    }
    end('1')
    await clock.advance(500)
    expect(writes.length).toBeGreaterThan(2)
    expect(database.code).toBe('CONNECTION_LOST')
    expect(book.size).toBe(1)
    answer = accept
    await clock.advance(3_000)
    expect(closed).toEqual(['1 SUCCESS'])
    expect(database.code).toBe('ok')
  })

  it('gives up when the lease may be over', async () => {
    answer = () => {
      throw away
    }
    end('1', 1_000)
    await clock.advance(5_000)
    expect(closed).toEqual(['1 given-up'])
    expect(book.size).toBe(0)
  })

  describe('when the store refuses one outcome', () => {
    const succeeds = ({ outcome }: Settlement): boolean => outcome === 'SUCCESS'

    it('settles the others of its batch at once, and what ends later without waiting for it', async () => {
      refuse('2')
      for (const id of ['1', '2', '3']) end(id)
      await clock.advance(10)
      expect(closed).toEqual(['1 SUCCESS', '3 SUCCESS'])
      end('4')
      end('5')
      await clock.advance(10)
      expect(closed).toEqual(['1 SUCCESS', '3 SUCCESS', '4 SUCCESS', '5 SUCCESS'])
      expect(writes.at(-1)).toEqual(['4', '5'])
    })

    it('still stores it when the refusal passes', async () => {
      refuse('1')
      end('1')
      await clock.advance(5_000)
      answer = accept
      await clock.advance(5_000)
      expect(closed).toEqual(['1 SUCCESS'])
      expect(reported).toEqual([])
    })

    it('ends its attempt as FAILED with a code of its own when it stays refused', async () => {
      refuse('2', succeeds)
      for (const id of ['1', '2']) end(id)
      await clock.advance(30_000)
      expect(closed).toEqual(['1 SUCCESS', '2 FAILED'])
      expect(settled.at(-1)).toMatchObject({
        fence: { taskId: '2' },
        outcome: 'FAILED',
        error: {
          code: 'OUTCOME_REFUSED',
          class: 'final',
          message: expect.stringContaining('1406), row=••••') as string
        }
      })
      expect(reported).toEqual(['2 SQL_FAILED'])
    })

    it('keeps a retry a retry', async () => {
      const message = 'a text that the database does not take'
      refuse('1', (settlement) => 'error' in settlement && settlement.error.message === message)
      end('1', 60_000, { outcome: 'RETRY', error: { code: 'E', class: 'retryable', message }, delayMs: 700 })
      await clock.advance(30_000)
      expect(settled).toMatchObject([{ outcome: 'RETRY', delayMs: 700, error: { code: 'OUTCOME_REFUSED' } }])
    })

    it.each<Ending>([{ outcome: 'SUCCESS', result: null }, { outcome: 'HANDED_BACK' }])(
      'gives its lease up when nothing at all can be written of it: $outcome',
      async (how) => {
        refuse('1')
        end('1', 60_000, how)
        await clock.advance(30_000)
        expect(closed).toEqual(['1 given-up'])
        expect(reported).toEqual(['1 SQL_FAILED'])
        expect(book.size).toBe(0)
      }
    )

    it('keeps to what it may take when it stops', async () => {
      refuse('1')
      end('1')
      await clock.advance(100)
      const stopped = writer.stop(300)
      await clock.advance(400)
      await stopped
      expect(closed).toEqual(['1 given-up'])
    })
  })

  it.each(['LOGIN_REFUSED', 'NO_RIGHTS', 'SCHEMA_MISSING'] as const)(
    'does not take %s for the fault of one outcome',
    async (code) => {
      answer = () => {
        throw new AppError(code, 'user', 'concerns all')
      }
      for (const id of ['1', '2']) end(id)
      await clock.advance(30_000)
      expect(closed).toEqual([])
      expect(writes.every((ids) => ids.length === 2)).toBe(true)
    }
  )

  it('tells a lost lease from a settled one', async () => {
    answer = (settlements) => settlements.map(({ fence }) => ({ fence, state: undefined }))
    end('1')
    await clock.advance(5)
    expect(closed).toEqual(['1 lost'])
  })

  it('writes what is left when it stops, but not longer than it may', async () => {
    answer = () => {
      throw away
    }
    end('1', 60_000)
    const stopped = writer.stop(1_000)
    await clock.advance(4_000)
    await stopped
    expect(closed).toEqual(['1 given-up'])
  })
})
