import { beforeEach, describe, expect, it } from 'vitest'
import { AppError } from '../../kernel/index.ts'
import type { Settlement, SettleResult, TaskStore } from '../task-store.ts'
import { DatabaseState } from './database-state.ts'
import { claimedTask } from './lease.fixture.ts'
import { LeaseBook } from './lease-book.ts'
import { ManualClock } from '../manual-clock.fixture.ts'
import { SettlementWriter } from './settlement-writer.ts'

const away = new AppError('CONNECTION_LOST', 'operational', 'away')
const refusedAsBug = new AppError('SQL_FAILED', 'bug', 'this one cannot be written')

describe('SettlementWriter', () => {
  let clock: ManualClock
  let book: LeaseBook
  let writes: string[][]
  let closed: string[]
  let answer: (settlements: readonly Settlement[]) => SettleResult[]
  let writer: SettlementWriter
  let database: DatabaseState

  const end = (taskId: string, leaseMs = 10_000): void => {
    const claimed = claimedTask({ taskId })
    const lease = book.add(claimed, clock.monotonic() + leaseMs)
    writer.add(lease, { fence: claimed.fence, outcome: 'SUCCESS', result: null })
  }

  beforeEach(() => {
    clock = new ManualClock()
    book = new LeaseBook(clock)
    writes = []
    closed = []
    answer = (settlements) => settlements.map(({ fence }) => ({ fence, state: 'SUCCESS' }))
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
      beforeSettle: () => Promise.resolve(),
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

  it('repeats the same write while the database is away', async () => {
    answer = () => {
      throw away
    }
    end('1')
    await clock.advance(500)
    expect(writes.length).toBeGreaterThan(2)
    expect(database.code).toBe('CONNECTION_LOST')
    expect(book.size).toBe(1)
    answer = (settlements) => settlements.map(({ fence }) => ({ fence, state: 'SUCCESS' }))
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

  it('does not let one that cannot be written hold up the others', async () => {
    answer = (settlements) => {
      if (settlements.some(({ fence }) => fence.taskId === '2')) throw refusedAsBug
      return settlements.map(({ fence }) => ({ fence, state: 'SUCCESS' }))
    }
    for (const id of ['1', '2', '3']) end(id)
    await clock.advance(500)
    expect(closed).toEqual(['1 SUCCESS', '3 SUCCESS'])
  })

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
