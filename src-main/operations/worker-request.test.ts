import { beforeEach, describe, expect, it } from 'vitest'
import { AppError, systemClock, type WorkerRequest } from '../kernel/index.ts'
import { FakeAudit } from './fake-audit.fixture.ts'
import { createOperations } from './index.ts'
import type { WorkerRequestCall } from './index.ts'

/** Knows one worker, w-1. */
class FakeStore {
  readonly requests: (WorkerRequest | null)[] = []
  fails: AppError | undefined
  readonly recordedBefore: number[] = []
  requestWorker = async (id: string, request: WorkerRequest | null): Promise<boolean> => {
    this.recordedBefore.push(audit.entries.length)
    await Promise.resolve()
    if (this.fails) throw this.fails
    this.requests.push(request)
    return id === 'w-1'
  }
}

let now = 0
const clock = { ...systemClock, now: () => now }
let audit: FakeAudit
let store: FakeStore
beforeEach(() => {
  now = 1_000_000
  audit = new FakeAudit(clock.now)
  store = new FakeStore()
})

const call = (more: Partial<WorkerRequestCall> = {}): WorkerRequestCall => ({
  store,
  connectionId: 'c1',
  connectionName: 'Orders',
  environment: 'staging',
  accessMode: 'read-write',
  workerId: 'w-1',
  request: 'QUIET',
  requestId: 'r1',
  confirmation: '',
  actor: 'ada',
  ...more
})
const ask = (more: Partial<WorkerRequestCall> = {}) => createOperations({ audit, clock }).requestWorker(call(more))
const outcomes = (): unknown[] => audit.entries.map(({ outcome }) => (outcome ? JSON.parse(outcome) : null) as unknown)

describe('asking a worker', () => {
  it.each([
    ['QUIET', 'worker.quiet'],
    ['STOP', 'worker.stop'],
    [null, 'worker.wake']
  ] as const)('for %s is recorded as %s before and after it is asked', async (request, action) => {
    expect(await ask({ request })).toEqual({ auditId: '1' })
    expect([store.requests, store.recordedBefore]).toEqual([[request], [1]])
    expect(audit.entries[0]).toMatchObject({
      ...{ actor: 'ada', connectionId: 'c1', action, count: 1 },
      target: '{"worker":"w-1"}'
    })
    expect(outcomes()).toEqual([{ status: 'requested' }])
  })

  it('that is gone is WORKER_GONE, and so is the repetition', async () => {
    for (let time = 0; time < 2; time++)
      await expect(ask({ workerId: 'w-2' })).rejects.toMatchObject({ code: 'WORKER_GONE', kind: 'user' })
    expect(outcomes()).toEqual([{ status: 'missing' }])
  })

  it('on a read-only connection is refused and leaves no trace', async () => {
    await expect(ask({ accessMode: 'read-only' })).rejects.toMatchObject({ code: 'READ_ONLY', kind: 'user' })
    expect([store.requests, audit.entries]).toEqual([[], []])
  })

  it.each(['', 'orders', 'Orders '])('on production is refused when %j is typed', async (confirmation) => {
    const refused = ask({ environment: 'production', confirmation })
    await expect(refused).rejects.toMatchObject({ code: 'INVALID_INPUT', kind: 'user' })
    expect([store.requests, audit.entries]).toEqual([[], []])
  })

  it('on production is done when the name is typed', async () => {
    expect(await ask({ environment: 'production', confirmation: 'Orders' })).toEqual({ auditId: '1' })
  })

  it('that cannot be recorded is not done', async () => {
    audit.intentFails = new AppError('AUDIT_UNAVAILABLE', 'operational', 'no log')
    await expect(ask()).rejects.toBe(audit.intentFails)
    expect(store.requests).toEqual([])
  })

  it('a second time with the same request id asks nothing and gets the first answer', async () => {
    expect(await ask()).toEqual(await ask())
    expect(store.requests).toEqual(['QUIET'])
  })

  it('something else with the same request id is a bug and asks nothing', async () => {
    await ask()
    for (const other of [{ request: 'STOP' as const }, { workerId: 'w-2' }, { connectionId: 'c2' }])
      await expect(ask(other)).rejects.toMatchObject({ code: 'INVALID_INPUT', kind: 'bug' })
    expect(store.requests).toEqual(['QUIET'])
  })

  it('that the store refuses is recorded without secrets, and repeated as it was', async () => {
    store.fails = new AppError('CONNECTION_LOST', 'operational', 'lost mysql://u:canary@h')
    await expect(ask()).rejects.toBe(store.fails)
    await expect(ask()).rejects.toMatchObject({ code: 'CONNECTION_LOST', kind: 'operational' })
    expect(audit.entries[0]?.outcome).not.toContain('canary')
  })

  it('to be quiet while it is asked to stop is refused, and the refusal is recorded', async () => {
    store.fails = new AppError('WORKER_STOPPING', 'user', 'asked to stop')
    await expect(ask()).rejects.toBe(store.fails)
    expect(outcomes()).toMatchObject([{ status: 'failed', code: 'WORKER_STOPPING', kind: 'user' }])
    await expect(ask()).rejects.toMatchObject({ code: 'WORKER_STOPPING', kind: 'user' })
  })

  it('whose reply was lost stays open, and is settled as unknown once it is old enough', async () => {
    store.fails = new AppError('COMMIT_UNKNOWN', 'operational', 'lost')
    await expect(ask()).rejects.toMatchObject({ code: 'COMMIT_UNKNOWN' })
    expect(outcomes()).toEqual([null])
    const operations = createOperations({ audit, clock })
    now += 120_000
    expect(await operations.reconcile(() => ({ get: () => Promise.resolve(undefined) }))).toBe(1)
    expect(outcomes()).toEqual([{ status: 'unknown', state: null }])
    await expect(ask()).rejects.toMatchObject({ code: 'COMMIT_UNKNOWN' })
  })

  it('without an answer is unknown at the deadline', async () => {
    const never = { requestWorker: () => new Promise<boolean>(() => undefined) }
    const soon = { ...clock, sleep: () => Promise.resolve() }
    const asked = createOperations({ audit, clock: soon }).requestWorker(call({ store: never }))
    await expect(asked).rejects.toMatchObject({ code: 'COMMIT_UNKNOWN' })
  })
})
