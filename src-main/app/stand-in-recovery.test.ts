import { describe, expect, it } from 'vitest'
import { systemClock, type Clock, type QueueReading, type WorkerRow } from '../kernel/index.ts'
import { emptyReading, liveWorker } from '../kernel/reading.fixture.ts'
import type { Recovered, TaskStore } from '../queue/task-store.ts'
import { StandInRecovery } from './stand-in-recovery.ts'

const worker = liveWorker()
const readingWith = (workers: WorkerRow[]): QueueReading => emptyReading({ workers })

function setup(batches: number[]): { recovery: StandInRecovery; store: TaskStore; time: { now: number } } {
  const time = { now: 0 }
  const clock: Clock = { ...systemClock, monotonic: () => time.now }
  let id = 0
  const recover = (): Promise<Recovered[]> =>
    Promise.resolve(
      Array.from({ length: batches.shift() ?? 0 }, () => ({
        taskId: String(++id),
        type: 't',
        reason: 'LEASE_EXPIRED' as const,
        state: 'RETRY_WAIT' as const
      }))
    )
  return { recovery: new StandInRecovery(clock), store: { recover } as unknown as TaskStore, time }
}

describe('recovery while no worker lives', () => {
  it('takes all that is left behind, batch by batch', async () => {
    const { recovery, store } = setup([200, 200, 3, 99])
    expect(await recovery.run('a', readingWith([]), store)).toHaveLength(403)
  })

  it('runs once a minute for each connection', async () => {
    const { recovery, store, time } = setup([1, 1, 1])
    expect(await recovery.run('a', readingWith([]), store)).toHaveLength(1)
    time.now = 59_999
    expect(await recovery.run('a', readingWith([]), store)).toHaveLength(0)
    expect(await recovery.run('b', readingWith([]), store)).toHaveLength(1)
    time.now = 60_000
    expect(await recovery.run('a', readingWith([]), store)).toHaveLength(1)
  })

  it.each([
    ['lives', worker, 0],
    ['fell silent', { ...worker, lastHeartbeatAt: 70_000 }, 1],
    ['stopped in order', { ...worker, status: 'stopped' as const }, 1]
  ])('knows a worker that %s', async (_name, row, moved) => {
    const { recovery, store } = setup([1])
    expect(await recovery.run('a', readingWith([row]), store)).toHaveLength(moved)
  })

  it('tries again after a failure, a minute later', async () => {
    const { recovery, store, time } = setup([1])
    const failing = { recover: () => Promise.reject(new Error('away')) } as unknown as TaskStore
    await expect(recovery.run('a', readingWith([]), failing)).rejects.toThrow('away')
    time.now = 60_000
    expect(await recovery.run('a', readingWith([]), store)).toHaveLength(1)
  })
})
