import { describe, expect, it } from 'vitest'
import { newTask, taskLimits } from '../kernel/index.ts'
import type { NewTaskInput } from '../kernel/index.ts'
import { partsWithin, taskBatches, validateNewTask } from './new-task.ts'

const task = (change: Partial<NewTaskInput> = {}): Parameters<typeof validateNewTask>[0] => ({
  ...newTask.parse({ type: 'mail.send', payload: '{}' }),
  ...(change as object)
})
const codeOf = (change: Partial<NewTaskInput>): string => {
  try {
    validateNewTask(task(change), 3)
    return 'valid'
  } catch (error) {
    return (error as { code: string }).code
  }
}

describe('validateNewTask', () => {
  it('returns a valid task as it is', () => {
    expect(validateNewTask(task({ title: '进口 🎩', runAt: 1_700_000_000_000 }))).toMatchObject({ title: '进口 🎩' })
  })

  it.each([
    ['no JSON', { payload: '{bad' }],
    ['empty', { payload: '' }],
    ['a raw NUL', { payload: '"\0"' }],
    ['half a character', { payload: '"\uD83C"' }],
    ['too large', { payload: JSON.stringify('x'.repeat(taskLimits.payloadBytes)) }]
  ])('refuses a payload that is %s as INVALID_PAYLOAD', (_, change) => {
    expect(codeOf(change)).toBe('INVALID_PAYLOAD')
  })

  it('takes a payload nested 10,000 deep', () => {
    expect(codeOf({ payload: '['.repeat(10_000) + ']'.repeat(10_000) })).toBe('valid')
  })

  it.each([
    ['type', { type: 'no spaces' }],
    ['priority', { priority: 10 }],
    ['title', { title: 'x'.repeat(taskLimits.titleLength + 1) }],
    ['key with half a character', { idempotencyKey: '\uDC00' }],
    ['title with a NUL', { title: 'a\0b' }],
    ['run time out of range', { runAt: 1e15 }],
    ['run time that is no number', { runAt: Number.NaN }],
    ['deadline out of range', { deadlineAt: -1 }],
    ['timeout', { timeoutMs: 5e9 }],
    ['attempts', { maxAttempts: 0 }]
  ])('refuses a bad %s as INVALID_INPUT', (_, change) => {
    expect(codeOf(change)).toBe('INVALID_INPUT')
  })

  it('says which task of the batch it was', () => {
    expect(() => validateNewTask(task({ priority: -1 }), 3)).toThrow(/Task 3/)
  })
})

describe('batches', () => {
  it('are cut where the next one would be too much, and keep the order', () => {
    expect(partsWithin([3, 4, 5, 12, 1], 9, (n) => n)).toEqual([[3, 4], [5], [12], [1]])
    expect(partsWithin([], 9, () => 1)).toEqual([])
  })

  it('hold at most so many tasks, bytes of payload and dependencies', () => {
    const sizes = (tasks: ReturnType<typeof task>[]): number[] =>
      taskBatches(tasks.map((one) => ({ task: one }))).map((batch) => batch.length)
    const { submitBatch, payloadBytes, submitBytes, dependencies, submitDependencies } = taskLimits
    expect(sizes(Array.from({ length: submitBatch * 2 + 1 }, () => task()))).toEqual([submitBatch, submitBatch, 1])
    const large = task({ payload: JSON.stringify('x'.repeat(payloadBytes - 2)) })
    const perBatch = submitBytes / payloadBytes
    expect(sizes(Array.from({ length: perBatch + 1 }, () => large))).toEqual([perBatch, 1])
    const waiting = task({ after: Array.from({ length: dependencies }, (_, i) => String(i + 1)) })
    expect(sizes(Array.from({ length: submitDependencies / dependencies + 1 }, () => waiting))).toEqual([
      submitDependencies / dependencies,
      1
    ])
  })
})
