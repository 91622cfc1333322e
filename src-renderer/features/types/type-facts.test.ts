import { describe, expect, it } from 'vitest'
import { limitsBy, type EndedAttempt, type QueueReading, type RunningAttempt } from '@contract'
import { readingAt } from '@/testing/demo-queue.ts'
import { makeScene } from '@/testing/scenes.ts'
import { typeErrors, typeNumbers, typeSentence, typeWorkers } from './type-facts.ts'

const at = 1_770_000_000_000
const failing = readingAt(makeScene('failing', at).queues['clinic-main']!, at)
const healthy = readingAt(makeScene('healthy', at).queues['clinic-main']!, at)
const ended = (change: Partial<EndedAttempt>): EndedAttempt => ({
  taskId: '1',
  attempt: 1,
  type: 't',
  workerId: 'w1',
  startedAt: at - 2_000,
  endedAt: at - 1_000,
  outcome: 'SUCCESS',
  errorCode: null,
  ...change
})
const running = (workerId: string, sinceMs: number): RunningAttempt => ({
  taskId: '9',
  attempt: 1,
  type: 't',
  workerId,
  startedAt: at - sinceMs,
  leaseUntil: at + 20_000,
  leaseMs: 30_000,
  state: 'RUNNING',
  stateSince: at - sinceMs
})
const limits = limitsBy(undefined)('')
const sentence = (reading: QueueReading, type: string, of = limits): string =>
  typeSentence(reading, typeNumbers(reading, type, of), of).kind

describe('the numbers of a type', () => {
  it('are its own, not those of the queue', () => {
    const numbers = typeNumbers(healthy, 'mail.send', limits)
    const parts = healthy.depth.filter((part) => part.type === 'mail.send')
    expect(numbers.depth.value).toBe(parts.reduce((sum, part) => sum + part.count, 0))
    expect(numbers.flow?.type).toBe('mail.send')
    expect(numbers.failureHigh).toBe(false)
  })

  it('are unknown where nothing ended, and nothing waits where nothing waits', () => {
    expect(typeNumbers(healthy, 'no.such', limits)).toMatchObject({
      depth: { value: 0 },
      oldest: null,
      flow: null,
      failureRate: null
    })
  })
})

describe('the sentence', () => {
  it('says what fails before what waits', () => {
    expect(sentence(failing, 'import.medical')).toBe('failing')
    expect(sentence({ ...failing, flow: [] }, 'import.medical')).toBe('oldest')
  })

  it('has the thresholds that it is given', () => {
    const higher = { oldestMs: 86_400_000, failureRate: 0.99 }
    expect(typeNumbers(failing, 'import.medical', limits)).toMatchObject({ oldestHigh: true, failureHigh: true })
    expect(typeNumbers(failing, 'import.medical', higher)).toMatchObject({ oldestHigh: false, failureHigh: false })
    expect(['well', 'retrying']).toContain(sentence(failing, 'import.medical', higher))
  })

  it('says what is retried a lot last', () => {
    const flow = healthy.flow.map((one) => ({ ...one, ended5m: 100, failed5m: 1, retried5m: 60 }))
    const [first] = flow
    expect(sentence({ ...healthy, flow }, first!.type)).toBe('retrying')
  })

  it('says that nobody works only when nobody does', () => {
    expect(sentence({ ...failing, workers: [] }, 'import.medical')).toBe('noWorkers')
    expect(sentence({ ...failing, workers: [] }, 'no.such')).toBe('quiet')
  })

  it('says nothing of what the cost guard held back', () => {
    const held = (probe: string): QueueReading['limits'][number] => ({ probe, reason: 'slow', index: null })
    const blind = { ...healthy, workers: [], flow: [], limits: ['workers', 'ended', 'submitted', 'finished'].map(held) }
    expect(typeSentence(blind, typeNumbers(blind, 'mail.send', limits), limits)).toEqual({
      kind: 'well',
      in1m: null,
      out1m: null
    })
    const unseen = { ...healthy, depth: [], flow: [], limits: [held('depth')] }
    expect(typeNumbers(unseen, 'mail.send', limits).depth.value).toBeNull()
    expect(sentence(unseen, 'mail.send')).toBe('well')
  })

  it('says that nothing ends while some run and others wait', () => {
    const flow = healthy.flow.map((one) => ({ ...one, ended5m: 0, failed5m: 0, retried5m: 0 }))
    expect(sentence({ ...healthy, flow }, 'mail.send')).toBe('stopped')
    expect(sentence(healthy, 'mail.send')).toBe('well')
  })
})

describe('the errors of a type', () => {
  it('are counted by code with their share of the attempts, the most frequent first', () => {
    const attempts = [
      ended({ outcome: 'FAILED', errorCode: 'A', endedAt: at - 500, taskId: '5', workerId: 'w2' }),
      ended({ outcome: 'RETRY', errorCode: 'A' }),
      ended({ outcome: 'RETRY', errorCode: 'B' }),
      ended({ outcome: 'LEASE_EXPIRED' }),
      ended({ outcome: 'LEASE_EXPIRED' }),
      ended({ outcome: 'LEASE_EXPIRED' }),
      ended({}),
      ended({}),
      ended({ outcome: 'HANDED_BACK' })
    ]
    expect(typeErrors(attempts)).toEqual([
      expect.objectContaining({ code: null, count: 3, failed: 0 }),
      {
        code: 'A',
        count: 2,
        failed: 1,
        share: 0.25,
        lastAt: at - 500,
        lastTaskId: '5',
        workers: ['w1', 'w2']
      },
      expect.objectContaining({ code: 'B', count: 1 })
    ])
    expect(typeErrors([ended({})])).toEqual([])
  })
})

it('the workers of a type are those that run it, then those that ran it', () => {
  const attempts = [ended({ workerId: 'w9' }), ended({ workerId: 'w9', outcome: 'FAILED', errorCode: 'A' })]
  expect(typeWorkers(attempts, [running('w1', 3_000), running('w1', 9_000)], at)).toEqual([
    { id: 'w1', running: 2, longestMs: 9_000, ended: 0, troubled: 0 },
    { id: 'w9', running: 0, longestMs: null, ended: 2, troubled: 1 }
  ])
})
