import { describe, expect, it } from 'vitest'
import type { QueueReading } from '@contract'
import { readingAt } from '@/testing/demo-queue.ts'
import { liveNumbers, typeLoads } from './live.ts'
import { drainOf, waitOf, workersForDrain } from './model.ts'
import { untakenTypes } from './untaken.ts'

const at = 1_000_000_000
const base = readingAt(
  { types: [['sync.stock', 600, 200]], failingSinceMs: null, workers: 2, silent: 0, gap: null, startedAt: at },
  at
)
/** Mail that comes and waits, beside a type that does well. */
const stuck: QueueReading = {
  ...base,
  depth: [...base.depth, { type: 'mail.send', state: 'QUEUED', count: 315 }],
  oldest: [{ type: 'mail.send', taskId: '1', ageMs: 468_000 }],
  flow: [
    ...base.flow,
    {
      ...{ type: 'mail.send', submitted1m: 40, finished1m: 0, ended5m: 0, failed5m: 0, retried5m: 0 },
      ...{ recovered5m: 0, duration: null, pickup: null }
    }
  ]
}

describe('a type that no worker takes', () => {
  it('is seen by what waits beside free slots, and ends every forecast', () => {
    expect(untakenTypes(stuck)).toEqual([{ type: 'mail.send', waiting: 315 }])
    const { inputs } = liveNumbers(stuck, null, null)
    expect([drainOf(inputs), waitOf(inputs), workersForDrain(inputs, 60_000)]).toEqual([
      { kind: 'unknown' },
      null,
      null
    ])
    expect(liveNumbers(base, null, null).inputs.waiting).toBeGreaterThan(0)
    expect(typeLoads(stuck, null).map(({ type, isUntaken }) => [type, isUntaken])).toEqual([
      ['sync.stock', false],
      ['mail.send', true]
    ])
  })

  it.each<[string, Partial<QueueReading>]>([
    ['is new', { oldest: [{ type: 'mail.send', taskId: '1', ageMs: 20_000 }] }],
    ['runs', { depth: [...stuck.depth, { type: 'mail.send', state: 'RUNNING', count: 1 }] }],
    ['ended lately', { flow: stuck.flow.map((one) => ({ ...one, ended5m: 1 })) }],
    ['finds no free slot', { workers: base.workers.map((one) => ({ ...one, running: one.slots })) }],
    ['has no workers', { workers: [] }],
    ['is not known to have ended', { limits: [{ probe: 'ended', reason: 'budget', index: null }] }]
  ])('is none that %s', (_, change) => expect(untakenTypes({ ...stuck, ...change })).toEqual([]))
})
