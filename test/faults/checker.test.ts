import { expect, it } from 'vitest'
import type { TaskState } from '../../src-main/kernel/index.ts'
import { check, type Evidence, type WitnessEvent } from './checker.ts'

const event = (
  seq: number,
  from: TaskState | null,
  to: TaskState,
  account: string,
  attempts: [number, number],
  leaseExpired = false
): WitnessEvent => ({
  seq,
  taskId: '1',
  from,
  to,
  attemptBefore: attempts[0],
  attemptAfter: attempts[1],
  workerBefore: null,
  workerAfter: null,
  account,
  leaseExpired
})

/** Claimed by w1, which died; recovered by w2 and claimed and ended by it. */
const sound: Evidence = {
  submitted: ['1'],
  final: new Map([['1', { state: 'SUCCESS', attempt: 2 }]]),
  events: [
    event(1, null, 'QUEUED', 'main', [0, 0]),
    event(2, 'QUEUED', 'RUNNING', 'w1', [0, 1]),
    event(3, 'RUNNING', 'RETRY_WAIT', 'w2', [1, 1], true),
    event(4, 'RETRY_WAIT', 'RUNNING', 'w2', [1, 2]),
    event(5, 'RUNNING', 'SUCCESS', 'w2', [2, 2])
  ],
  attempts: [
    { taskId: '1', attempt: 1, outcome: 'LEASE_EXPIRED' },
    { taskId: '1', attempt: 2, outcome: 'SUCCESS' }
  ]
}
const rules = (evidence: Evidence): string[] => [...new Set(check(evidence).violations.map((v) => v.rule))]

it('finds nothing in a sound run', () => {
  expect(check(sound)).toEqual({ claims: 2, recoveries: 1, violations: [] })
})

it('finds a completion by a stale holder', () => {
  expect(
    rules({ ...sound, events: [...sound.events.slice(0, 4), event(5, 'RUNNING', 'SUCCESS', 'w1', [2, 2])] })
  ).toEqual(['I4'])
})

it('finds a success that a recovery would excuse', () => {
  expect(
    rules({ ...sound, events: [...sound.events.slice(0, 4), event(5, 'RUNNING', 'SUCCESS', 'w1', [2, 2], true)] })
  ).toEqual(['I4'])
})

it('finds a recovery before the lease ran out', () => {
  expect(
    rules({ ...sound, events: sound.events.map((e) => (e.seq === 3 ? { ...e, leaseExpired: false } : e)) })
  ).toEqual(['I4'])
})

it('finds a claim of a leased task', () => {
  const events = [
    ...sound.events.slice(0, 2),
    event(3, 'RUNNING', 'RUNNING', 'w2', [1, 2]),
    event(4, 'RUNNING', 'SUCCESS', 'w2', [2, 2])
  ]
  expect(rules({ ...sound, events })).toEqual(['I3'])
})

it('finds a lost task, a stuck task and a row that nobody submitted', () => {
  expect(rules({ ...sound, submitted: ['1', '2'] })).toEqual(['I1'])
  expect(rules({ ...sound, final: new Map([['1', { state: 'RUNNING', attempt: 2 }]]) })).toEqual(['I2'])
  expect(
    rules({ ...sound, final: new Map([...sound.final, ['9', { state: 'SUCCESS' as const, attempt: 0 }]]) })
  ).toEqual(['I1'])
})

it('finds a missing and a doubled attempt row', () => {
  expect(rules({ ...sound, attempts: sound.attempts.slice(1) })).toEqual(['I5'])
  expect(rules({ ...sound, attempts: [...sound.attempts, { taskId: '1', attempt: 2, outcome: 'SUCCESS' }] })).toEqual([
    'I5'
  ])
})

it('finds a claim that was not counted', () => {
  expect(rules({ ...sound, final: new Map([['1', { state: 'SUCCESS', attempt: 1 }]]) })).toEqual(['I5'])
})

it('finds an illegal change and a task that left its end', () => {
  const events = [...sound.events, event(6, 'SUCCESS', 'RETRY_WAIT', 'w2', [2, 2])]
  expect(rules({ ...sound, events })).toEqual(['transition', 'I8'])
})
