import { beforeEach, describe, expect, it } from 'vitest'
import { AppError, type WorkerRequest } from '../../kernel/index.ts'
import { ManualClock, settled } from '../manual-clock.fixture.ts'
import type { TaskStore } from '../task-store.ts'
import { DatabaseState } from './database-state.ts'
import { ReportLoop } from './report-loop.ts'

describe('ReportLoop', () => {
  let clock: ManualClock
  let database: DatabaseState
  let reports: number
  let answer: () => Promise<WorkerRequest | null>
  let requests: (WorkerRequest | null)[]
  let loop: ReportLoop

  beforeEach(() => {
    clock = new ManualClock()
    database = new DatabaseState(() => undefined)
    reports = 0
    requests = []
    answer = () => Promise.resolve(null)
    const store: Pick<TaskStore, 'reportWorker'> = {
      reportWorker: () => {
        reports++
        return answer()
      }
    }
    loop = new ReportLoop({
      store: store as TaskStore,
      clock,
      database,
      everyMs: 1_000,
      report: () => ({}) as never,
      onRequest: (request) => requests.push(request)
    })
  })

  it('passes on what another process asks of the worker', async () => {
    loop.start()
    await clock.advance(10)
    answer = () => Promise.resolve('QUIET')
    await clock.advance(1_000)
    expect(requests).toEqual([null, 'QUIET'])
  })

  it('goes on after a failure, which lasts until a report is taken', async () => {
    answer = () => Promise.reject(new AppError('LOCK_TIMEOUT', 'operational', 'locked'))
    loop.start()
    await clock.advance(10)
    expect(database.code).toBe('LOCK_TIMEOUT')
    answer = () => Promise.resolve(null)
    await clock.advance(1_000)
    expect(database.code).toBe('ok')
  })

  it('sends one after the other, so that the last word stays the last', async () => {
    const first = Promise.withResolvers<null>()
    answer = () => first.promise
    loop.start()
    await clock.advance(10)
    const stopping = loop.stop()
    const lastWord = loop.reportNow()
    await settled()
    expect(reports).toBe(1)
    first.resolve(null)
    await Promise.all([stopping, lastWord])
    expect(reports).toBe(2)
  })
})
