import { beforeEach, describe, expect, it } from 'vitest'
import { AppError, systemClock } from '../kernel/index.ts'
import { FakeAudit } from './fake-audit.fixture.ts'
import { createOperations } from './index.ts'
import type { SubmitCounts, SubmitRequest } from './index.ts'

let now = 0
const clock = { ...systemClock, now: () => now }
const counts: SubmitCounts = { created: 3, existing: 0, firstId: '7' }
let audit: FakeAudit
let submitted = 0
beforeEach(() => {
  now = 1_000_000
  submitted = 0
  audit = new FakeAudit(clock.now)
})

const request = (more: Partial<SubmitRequest> = {}): SubmitRequest => ({
  connectionId: 'c1',
  connectionName: 'Orders',
  environment: 'staging',
  accessMode: 'read-write',
  type: 'mail.send',
  count: 3,
  requestId: 'r1',
  confirmation: '',
  actor: 'ada',
  submit: () => {
    submitted++
    return Promise.resolve(counts)
  },
  ...more
})
const outcomes = (): unknown[] => audit.entries.map(({ outcome }) => (outcome ? JSON.parse(outcome) : null) as unknown)

describe('a submit', () => {
  it('is recorded before and after the tasks are written', async () => {
    const seen: number[] = []
    const submit = (): Promise<SubmitCounts> => {
      seen.push(audit.entries.length)
      return Promise.resolve(counts)
    }
    const answer = await createOperations({ audit, clock }).submit(request({ submit }))
    expect(answer).toEqual({ ...counts, auditId: '1' })
    expect(seen).toEqual([1])
    expect(audit.entries[0]).toMatchObject({ actor: 'ada', action: 'submit', target: '{"type":"mail.send"}', count: 3 })
    expect(outcomes()).toEqual([{ status: 'submitted', ...counts }])
  })

  it('that cannot be recorded writes nothing', async () => {
    audit.intentFails = new AppError('AUDIT_UNAVAILABLE', 'operational', 'no log')
    await expect(createOperations({ audit, clock }).submit(request())).rejects.toBe(audit.intentFails)
    expect(submitted).toBe(0)
  })

  it('on a read-only connection is refused', async () => {
    const refused = createOperations({ audit, clock }).submit(request({ accessMode: 'read-only' }))
    await expect(refused).rejects.toMatchObject({ code: 'READ_ONLY', kind: 'user' })
    expect([submitted, audit.entries.length]).toEqual([0, 0])
  })

  it.each(['', 'orders', 'Orders '])('to production is refused when %j is typed', async (confirmation) => {
    const refused = createOperations({ audit, clock }).submit(request({ environment: 'production', confirmation }))
    await expect(refused).rejects.toMatchObject({ code: 'INVALID_INPUT', kind: 'user' })
    expect([submitted, audit.entries.length]).toEqual([0, 0])
  })

  it('to production is done when the name is typed', async () => {
    const operations = createOperations({ audit, clock })
    const answer = await operations.submit(request({ environment: 'production', confirmation: 'Orders' }))
    expect(answer.created).toBe(3)
  })

  it('that fails says so in the log, without what looks like a secret', async () => {
    const failure = new AppError('CONNECTION_LOST', 'operational', 'lost mysql://u:canary@h')
    const operations = createOperations({ audit, clock })
    await expect(operations.submit(request({ submit: () => Promise.reject(failure) }))).rejects.toBe(failure)
    expect(outcomes()).toMatchObject([{ status: 'failed', code: 'CONNECTION_LOST' }])
    expect(audit.entries[0]?.outcome).not.toContain('canary')
  })
})

describe('a repeated submit', () => {
  it('writes nothing and gets the first answer, also after a restart', async () => {
    const first = await createOperations({ audit, clock }).submit(request())
    expect(await createOperations({ audit, clock }).submit(request())).toEqual(first)
    expect(submitted).toBe(1)
  })

  it('of another type, number or connection is a bug and writes nothing', async () => {
    const operations = createOperations({ audit, clock })
    await operations.submit(request())
    for (const other of [{ type: 'x' }, { count: 4 }, { connectionId: 'c2' }])
      await expect(operations.submit(request(other))).rejects.toMatchObject({ code: 'INVALID_INPUT', kind: 'bug' })
    expect(submitted).toBe(1)
  })

  it('of one whose reply was lost is unknown, until a later start settles it as that', async () => {
    const lost = new AppError('COMMIT_UNKNOWN', 'operational', 'lost')
    const operations = createOperations({ audit, clock })
    const submit = (): Promise<SubmitCounts> => Promise.reject(lost)
    await expect(operations.submit(request({ submit }))).rejects.toMatchObject({ details: { auditId: '1' } })
    await expect(operations.submit(request())).rejects.toMatchObject({ code: 'COMMIT_UNKNOWN' })
    now += 120_000
    expect(await operations.reconcile(() => ({ get: () => Promise.resolve(undefined) }))).toBe(1)
    expect(outcomes()).toEqual([{ status: 'unknown', state: null }])
    await expect(operations.submit(request())).rejects.toMatchObject({ code: 'COMMIT_UNKNOWN' })
    expect(submitted).toBe(0)
  })
})
