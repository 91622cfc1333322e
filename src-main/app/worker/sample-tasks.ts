import type { SampleKind } from '../../contract/index.ts'
import { newTask, type NewTask, type NewTaskInput } from '../../kernel/index.ts'

/** Submitting pauses while this many of its tasks wait: a sample must show a queue, not bury a disk. */
export const sampleBacklog = 2_000
/** One round a second. */
export const sampleRoundMs = 1_000
const sampleOwner = 'sample'

const spikeEvery = 30

/** The tasks of one round. What they are is by chance, how many is not. */
export function sampleTasks(kind: SampleKind, round: number, random: () => number): NewTask[] {
  switch (kind) {
    case 'steady':
      return [...times(4, () => sleep(random, 200, 1_500)), ...times(round % 2, () => flaky(random, 0.15))]
    case 'spike':
      return times(round % spikeEvery === 0 ? 300 : 2, () => sleep(random, 100, 600))
    case 'failing':
      return [...times(2, () => flaky(random, 0.7)), ...times(round % 2, () => failing())]
    case 'slow':
      return times(round % 2, () => sleep(random, 8_000, 25_000))
  }
}

const times = (count: number, make: () => NewTaskInput): NewTask[] =>
  Array.from({ length: count }, () => newTask.parse({ owner: sampleOwner, ...make() }))

const between = (random: () => number, low: number, high: number): number => Math.round(low + (high - low) * random())

const sleep = (random: () => number, low: number, high: number): NewTaskInput => ({
  type: 'sleep',
  title: 'Sample: sleeps',
  payload: JSON.stringify({ ms: between(random, low, high) }),
  priority: between(random, 3, 7)
})

const flaky = (random: () => number, probability: number): NewTaskInput => ({
  type: 'flaky',
  title: 'Sample: fails now and then',
  payload: JSON.stringify({ probability, ms: between(random, 100, 800) }),
  maxAttempts: 3
})

const failing = (): NewTaskInput => ({
  type: 'flaky',
  title: 'Sample: fails for good',
  payload: JSON.stringify({ probability: 1, errorClass: 'final', ms: 50 })
})
