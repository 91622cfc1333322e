import { describe, expect, it } from 'vitest'
import type { LinkState, QueueReading, TypeFlow } from '@contract'
import { makeScene, refused } from '@/testing/scenes.ts'
import { readingAt } from '@/testing/demo-queue.ts'
import { aboveSince, drainOf } from './reading-numbers.ts'
import { decideSentence } from './sentence.ts'

const now = 1_770_000_000_000
const live: LinkState = { status: 'live', lastReadingAt: now }
const healthy = readingAt(makeScene('healthy', now).queues['clinic-main']!, now)
const failing = readingAt(makeScene('failing', now).queues['clinic-main']!, now)
const empty: QueueReading = { ...healthy, depth: [], oldest: [], flow: [], workers: [] }
const flow = (type: string, ended5m: number, failed5m: number): TypeFlow => ({
  type,
  submitted1m: 1,
  finished1m: 1,
  ended5m,
  failed5m,
  retried5m: 0,
  recovered5m: 0,
  duration: null,
  pickup: null
})

describe('decideSentence', () => {
  it('says first that the picture is old, whatever the picture shows', () => {
    const lost: LinkState = { status: 'lost', since: now - 5_000, nextTryAt: now, failures: 1, problem: refused }
    expect(decideSentence(lost, failing)).toMatchObject({ kind: 'offline', since: now - 5_000 })
  })

  it('says that nobody works before it says what fails', () => {
    expect(decideSentence(live, { ...failing, workers: [] }).kind).toBe('noWorkers')
  })

  it('does not miss workers when nothing waits', () => {
    expect(decideSentence(live, { ...empty, workers: [] }).kind).toBe('quiet')
  })

  it('names the failing type with the share of its attempts that did not succeed', () => {
    const sentence = decideSentence(live, failing)
    expect(sentence).toMatchObject({ kind: 'failing', type: 'import.medical' })
    expect(sentence.kind === 'failing' && sentence.rate).toBeGreaterThan(0.5)
  })

  it('chooses the type with the most failed attempts, not the smallest sample', () => {
    const reading = { ...healthy, flow: [flow('rare', 12, 12), flow('busy', 1_000, 200)] }
    expect(decideSentence(live, reading)).toMatchObject({ kind: 'failing', type: 'busy' })
  })

  it('does not call a type failing on a handful of attempts, nor exactly at the threshold', () => {
    expect(decideSentence(live, { ...healthy, flow: [flow('few', 9, 9)] }).kind).toBe('well')
    expect(decideSentence(live, { ...healthy, flow: [flow('edge', 100, 10)] }).kind).toBe('well')
  })

  it('takes some retries for daily life, and many for trouble', () => {
    const retried = (retried5m: number): QueueReading => ({
      ...healthy,
      flow: [{ ...flow('flaky', 100, 0), retried5m }]
    })
    expect(decideSentence(live, retried(20)).kind).toBe('well')
    expect(decideSentence(live, retried(30))).toMatchObject({ kind: 'failing', rate: 0.3 })
  })

  it('names the task that waits longer than five minutes', () => {
    const oldest = [
      { type: 'mail.send', taskId: '7', ageMs: 20_000 },
      { type: 'export.csv', taskId: '8', ageMs: 300_001 }
    ]
    expect(decideSentence(live, { ...healthy, oldest })).toMatchObject({
      kind: 'oldest',
      type: 'export.csv',
      taskId: '8'
    })
  })

  it('says that all is well while work flows', () => {
    expect(decideSentence(live, healthy).kind).toBe('well')
  })
})

describe('drainOf', () => {
  it('tells growing from draining, and neither from noise', () => {
    expect(drainOf({ waiting: 100, in1m: 50, out1m: 100 })).toEqual({ kind: 'drains', ms: 120_000 })
    expect(drainOf({ waiting: 100, in1m: 100, out1m: 50 })).toEqual({ kind: 'grows', perMinute: 50 })
    expect(drainOf({ waiting: 100, in1m: 1_000, out1m: 995 }).kind).toBe('steady')
    expect(drainOf({ waiting: 0, in1m: 5, out1m: 0 }).kind).toBe('empty')
  })
})

describe('aboveSince', () => {
  it('finds the start of the newest run above the limit, across unknown time', () => {
    expect(aboveSince([1, 2, 3, 4, 5], [9, 1, 8, null, 9], 5)).toBe(3)
    expect(aboveSince([1, 2], [9, 1], 5)).toBeNull()
    expect(aboveSince([1, 2], [null, null], 5)).toBeNull()
  })
})
