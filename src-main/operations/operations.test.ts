import { beforeEach, describe, expect, it } from 'vitest'
import { AppError, textMask, nextState, operatorActions, systemClock, taskStates } from '../kernel/index.ts'
import type { OperatorAction, TaskDetail, TaskState } from '../kernel/index.ts'
import type { ActionResult, TaskStore } from '../queue/task-store.ts'
import { FakeAudit } from './fake-audit.fixture.ts'
import { createOperations, writeBlock } from './index.ts'
import type { ActRequest } from './index.ts'

/** One task under the transition table. */
class FakeStore {
  state: TaskState | undefined = 'FAILED'
  acted = 0
  act: TaskStore['act'] = async (_taskId: string, action: OperatorAction): Promise<ActionResult> => {
    this.acted++
    await Promise.resolve()
    if (!this.state) return { status: 'missing' }
    const from = this.state
    const to = nextState(from, action)
    if (!to) return { status: 'refused', state: from }
    this.state = to
    return { status: 'done', from, to }
  }
  get = (): Promise<TaskDetail | undefined> =>
    Promise.resolve(this.state ? ({ state: this.state } as TaskDetail) : undefined)
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

const request = (more: Partial<ActRequest> = {}): ActRequest => ({
  store,
  connectionId: 'c1',
  connectionName: 'Orders',
  environment: 'staging',
  accessMode: 'read-write',
  taskId: '42',
  action: 'retry',
  requestId: 'r1',
  confirmation: '',
  actor: 'ada',
  ...more
})
const outcomes = (): unknown[] =>
  audit.entries.map(({ outcome }) => (outcome ? (JSON.parse(outcome) as unknown) : null))

describe('an action', () => {
  it('is recorded before and after it is carried out', async () => {
    const operations = createOperations({ audit, clock })
    const seen: number[] = []
    const act = store.act
    let by: string | undefined
    store.act = async (...values) => {
      by = values[2]
      seen.push(audit.entries.length)
      return { ...(await act(...values)), dependents: [] }
    }
    expect(await operations.act(request())).toEqual({ from: 'FAILED', to: 'QUEUED', auditId: '1' })
    expect(seen).toEqual([1])
    expect(by).toBe('ada')
    expect(audit.entries[0]).toMatchObject({
      actor: 'ada',
      connectionId: 'c1',
      action: 'retry',
      target: '42',
      count: 1
    })
    expect(outcomes()).toEqual([{ status: 'done', from: 'FAILED', to: 'QUEUED' }])
  })

  it('is done or refused as the transition table says, in every state', async () => {
    const operations = createOperations({ audit, clock })
    for (const action of operatorActions) {
      for (const state of taskStates) {
        store.state = state
        const answer = operations.act(request({ action, requestId: `${action} ${state}` }))
        const to = nextState(state, action)
        if (to) expect(await answer).toMatchObject({ from: state, to })
        else
          await expect(answer).rejects.toMatchObject({ code: 'ILLEGAL_TRANSITION', kind: 'user', details: { state } })
      }
    }
  })

  it('that fails is recorded without what the user wants hidden', async () => {
    store.act = () => Promise.reject(new AppError('SQL_FAILED', 'operational', 'refused: salary=1, password=2'))
    const hiding = createOperations({ audit, clock, maskText: textMask(['salary']) })
    await expect(hiding.act(request())).rejects.toMatchObject({ code: 'SQL_FAILED' })
    await expect(createOperations({ audit, clock }).act(request({ requestId: 'other' }))).rejects.toThrow()
    expect(outcomes()).toMatchObject([
      { message: 'refused: salary=••••, password=••••' },
      { message: 'refused: salary=1, password=••••' }
    ])
  })

  it('on a task that is gone is NOT_FOUND', async () => {
    store.state = undefined
    await expect(createOperations({ audit, clock }).act(request())).rejects.toMatchObject({ code: 'NOT_FOUND' })
    expect(outcomes()).toEqual([{ status: 'missing' }])
  })

  it('on a read-only connection is refused, saying how to unlock it, and leaves no trace', async () => {
    const refused = createOperations({ audit, clock }).act(request({ accessMode: 'read-only' }))
    await expect(refused).rejects.toMatchObject({
      code: 'READ_ONLY',
      kind: 'user',
      message: expect.stringContaining('read-write') as string
    })
    expect([store.acted, audit.entries.length]).toEqual([0, 0])
    expect(writeBlock(request())).toBeUndefined()
  })

  it.each(['', 'orders', 'Orders ', 'Order'])('on production is refused when %j is typed', async (confirmation) => {
    const refused = createOperations({ audit, clock }).act(request({ environment: 'production', confirmation }))
    await expect(refused).rejects.toMatchObject({ code: 'INVALID_INPUT', kind: 'user' })
    expect([store.acted, audit.entries.length]).toEqual([0, 0])
  })

  it('on production is done when the name is typed', async () => {
    const operations = createOperations({ audit, clock })
    const done = await operations.act(request({ environment: 'production', confirmation: 'Orders' }))
    expect(done.to).toBe('QUEUED')
  })

  it('that cannot be recorded is not done', async () => {
    audit.intentFails = new AppError('AUDIT_UNAVAILABLE', 'operational', 'no log')
    await expect(createOperations({ audit, clock }).act(request())).rejects.toBe(audit.intentFails)
    expect(store.acted).toBe(0)
  })

  it('whose outcome cannot be recorded is answered all the same, and that is told', async () => {
    const told: AppError[] = []
    const operations = createOperations({ audit, clock, onUnrecorded: (error) => told.push(error) })
    audit.outcomeFails = new AppError('DISK_FULL', 'operational', 'full')
    expect(await operations.act(request())).toMatchObject({ to: 'QUEUED' })
    expect(told).toEqual([audit.outcomeFails])
  })
})

describe('a repeated request', () => {
  it('changes nothing and gets the first answer, also after a restart and on a connection locked since', async () => {
    const first = await createOperations({ audit, clock }).act(request())
    store.state = 'FAILED'
    const operations = createOperations({ audit, clock })
    expect(await operations.act(request())).toEqual(first)
    expect(await operations.act(request({ accessMode: 'read-only' }))).toEqual(first)
    expect([store.acted, store.state]).toEqual([1, 'FAILED'])
  })

  it('that comes while the first is under way shares its answer', async () => {
    const operations = createOperations({ audit, clock })
    const [one, two] = await Promise.all([operations.act(request()), operations.act(request())])
    expect(one).toEqual(two)
    expect([store.acted, audit.entries.length]).toEqual([1, 1])
  })

  it('gets the first refusal although the task has moved on', async () => {
    store.state = 'RUNNING'
    const operations = createOperations({ audit, clock })
    await expect(operations.act(request())).rejects.toMatchObject({ code: 'ILLEGAL_TRANSITION' })
    store.state = 'FAILED'
    await expect(operations.act(request())).rejects.toMatchObject({
      code: 'ILLEGAL_TRANSITION',
      details: { state: 'RUNNING' }
    })
    expect(store.acted).toBe(1)
  })

  it('gets the first failure of the store, without its secrets in the log', async () => {
    const failure = new AppError('CONNECTION_LOST', 'operational', 'lost mysql://u:canary@h')
    store.act = () => Promise.reject(failure)
    const operations = createOperations({ audit, clock })
    await expect(operations.act(request())).rejects.toBe(failure)
    await expect(operations.act(request())).rejects.toMatchObject({ code: 'CONNECTION_LOST', kind: 'operational' })
    expect(audit.entries[0]?.outcome).not.toContain('canary')
  })

  it('with another task, action or connection is a bug and changes nothing', async () => {
    const operations = createOperations({ audit, clock })
    const first = operations.act(request())
    await expect(operations.act(request({ taskId: '43' }))).rejects.toMatchObject({ kind: 'bug' })
    await first
    for (const other of [{ taskId: '43' }, { action: 'cancel' as const }, { connectionId: 'c2' }]) {
      await expect(operations.act(request(other))).rejects.toMatchObject({ code: 'INVALID_INPUT', kind: 'bug' })
    }
    expect(store.acted).toBe(1)
  })
})

describe('an action without an answer', () => {
  it('is unknown at the deadline, and its late outcome is still recorded', async () => {
    let answer = (): void => undefined
    const entered = new Promise<void>((enter) => {
      store.act = () =>
        new Promise((resolve) => {
          answer = () => resolve({ status: 'done', from: 'FAILED', to: 'QUEUED' })
          enter()
        })
    })
    let pass = (): void => undefined
    const waiting = { ...clock, sleep: () => new Promise<void>((resolve) => (pass = resolve)) }
    const operations = createOperations({ audit, clock: waiting })
    const first = operations.act(request())
    await entered
    pass()
    await expect(first).rejects.toMatchObject({ code: 'COMMIT_UNKNOWN', kind: 'operational' })
    expect(outcomes()).toEqual([null])
    const again = operations.act(request())
    answer()
    expect(await again).toMatchObject({ to: 'QUEUED', auditId: '1' })
    expect(outcomes()).toEqual([{ status: 'done', from: 'FAILED', to: 'QUEUED' }])
  })

  it('of an earlier run is settled at start by looking at the task, once it is old enough', async () => {
    const lost = new AppError('COMMIT_UNKNOWN', 'operational', 'lost')
    store.act = () => Promise.reject(lost)
    await expect(createOperations({ audit, clock }).act(request())).rejects.toMatchObject({ code: 'COMMIT_UNKNOWN' })
    const operations = createOperations({ audit, clock })
    await expect(operations.act(request())).rejects.toMatchObject({ code: 'COMMIT_UNKNOWN' })
    expect(await operations.reconcile(() => store)).toBe(0)
    now += 120_000
    expect(await operations.reconcile(() => undefined)).toBe(0)
    expect(await operations.reconcile(() => ({ get: () => Promise.reject(lost) }))).toBe(0)
    store.state = 'QUEUED'
    expect(await operations.reconcile(() => store)).toBe(1)
    expect(outcomes()).toEqual([{ status: 'unknown', state: 'QUEUED' }])
    expect(await operations.reconcile(() => store)).toBe(0)
    await expect(operations.act(request())).rejects.toMatchObject({ code: 'COMMIT_UNKNOWN' })
  })
})
