import { expect, it } from 'vitest'
import type { CapacityInputs } from './model.ts'
import { decideSentence } from './sentence.ts'

const usual: CapacityInputs = {
  workers: 4,
  slots: 10,
  durationMs: 2_000,
  batch: 10,
  claimMs: 10,
  arrivals: 10,
  attempts: 1,
  waiting: 7,
  taken: { slots: 0, rate: 0 }
}

it.each<[string, Partial<CapacityInputs>, object]>([
  ['there is room', {}, { kind: 'room', bottleneck: 'slots', throughput: 20, use: 0.5 }],
  ['it is tight', { arrivals: 18 }, { kind: 'tight', use: 0.9 }],
  ['more comes than can be done', { arrivals: 25 }, { kind: 'over', bottleneck: 'slots', throughput: 20, growth: 5 }],
  ['claims are too slow', { claimMs: 8_000 }, { kind: 'over', bottleneck: 'claims', throughput: 5 }],
  ['nothing comes', { arrivals: 0 }, { kind: 'idle', throughput: 20 }],
  ['no worker is there', { workers: 0 }, { kind: 'noWorkers', waiting: 7 }],
  ['no worker is there, and no task', { workers: 0, waiting: 0, arrivals: 0 }, { kind: 'nothingToDo' }],
  ['no attempt has ended', { durationMs: null }, { kind: 'unknown', missing: 'duration' }],
  ['no claim was made', { claimMs: null }, { kind: 'unknown', missing: 'claims' }],
  ['other types are unknown', { taken: { slots: null, rate: 0 } }, { kind: 'unknown', missing: 'others' }]
])('says when %s', (_, change, expected) => expect(decideSentence({ ...usual, ...change }, [])).toMatchObject(expected))

it('names the type that no worker takes before it says that there is room', () => {
  const untaken = [
    { type: 'mail.send', waiting: 315 },
    { type: 'sms.send', waiting: 2 }
  ]
  expect(decideSentence({ ...usual, waiting: null }, untaken)).toEqual({
    ...{ kind: 'untaken', type: 'mail.send', waiting: 315, others: 1 }
  })
  expect(decideSentence({ ...usual, workers: 0 }, untaken)).toMatchObject({ kind: 'noWorkers' })
})
