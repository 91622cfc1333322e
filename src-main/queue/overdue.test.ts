import { describe, expect, it } from 'vitest'
import { AppError, deadlineStates, type RetryPolicy, type TaskState } from '../kernel/index.ts'
import { afterDeadline, afterExpiry } from './overdue.ts'

const policy: RetryPolicy = { kind: 'list', delaysMs: [30_000] }
const attempt = (attemptsUsed: number) => ({ attemptsUsed, maxAttempts: 3, policy, random: () => 0 })

describe('a lease that ran out', () => {
  it('is retried like a failure of its worker while attempts are left, and fails the last one', () => {
    expect(afterExpiry('RUNNING', attempt(2))).toEqual({ state: 'RETRY_WAIT', delayMs: 30_000 })
    expect(afterExpiry('RUNNING', attempt(3))).toEqual({ state: 'FAILED', delayMs: null })
  })

  it.each([1, 3])('ends a task that was asked to stop as cancelled, after %i of 3 attempts', (attemptsUsed) => {
    expect(afterExpiry('CANCEL_REQUESTED', attempt(attemptsUsed))).toEqual({ state: 'CANCELLED', delayMs: null })
  })

  it.each<TaskState>(['QUEUED', 'PAUSED', 'SUCCESS'])('is none of a task in %s', (state) => {
    expect(() => afterExpiry(state, attempt(1))).toThrow(AppError)
  })
})

it('a deadline that passes fails what waits, and nothing else', () => {
  expect(deadlineStates.map(afterDeadline)).toEqual(deadlineStates.map(() => 'FAILED'))
  expect(() => afterDeadline('RUNNING')).toThrow(AppError)
})
