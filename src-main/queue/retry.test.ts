import { describe, expect, it } from 'vitest'
import { defaultRetryPolicy, nextState, taskStates } from '../kernel/index.ts'
import type { AttemptError, RetryPolicy } from '../kernel/index.ts'
import {
  changesError,
  clampDelay,
  decideRetry,
  longestDelayMs,
  resolveSettlement,
  resourceRetryFloorMs,
  retryDelayMs
} from './retry.ts'

const error = (kind: AttemptError['class']): AttemptError => ({ code: 'X', message: 'm', class: kind })
const failed = (change: Partial<Parameters<typeof decideRetry>[0]>): Parameters<typeof decideRetry>[0] => ({
  error: error('retryable'),
  attemptsUsed: 1,
  maxAttempts: 3,
  policy: defaultRetryPolicy,
  random: () => 0,
  ...change
})

describe('decideRetry', () => {
  it('retries a retryable error while attempts are left, and fails the last one', () => {
    expect(decideRetry(failed({ attemptsUsed: 2 }))).toEqual({ outcome: 'RETRY', delayMs: 10_000 })
    expect(decideRetry(failed({ attemptsUsed: 3 }))).toEqual({ outcome: 'FAILED' })
    expect(decideRetry(failed({ attemptsUsed: 4 }))).toEqual({ outcome: 'FAILED' })
  })

  it('fails a final error at once', () => {
    expect(decideRetry(failed({ error: error('final') }))).toEqual({ outcome: 'FAILED' })
  })

  it('keeps a resource error away for the floor, and no longer than its attempts', () => {
    const policy: RetryPolicy = { kind: 'list', delaysMs: [0] }
    expect(decideRetry(failed({ error: error('resource'), policy }))).toEqual({
      outcome: 'RETRY',
      delayMs: resourceRetryFloorMs
    })
    expect(decideRetry(failed({ error: error('resource'), attemptsUsed: 3 }))).toEqual({ outcome: 'FAILED' })
    expect(decideRetry(failed({ policy }))).toEqual({ outcome: 'RETRY', delayMs: 0 })
  })
})

describe('retryDelayMs', () => {
  it('doubles from the base, six times, up to the cap', () => {
    const delays = [1, 2, 3, 4, 5, 6, 7, 8, 100].map((n) => retryDelayMs(defaultRetryPolicy, n, () => 0) / 1000)
    expect(delays).toEqual([5, 10, 20, 40, 80, 160, 300, 300, 300])
    const uncapped = { kind: 'exponential', baseMs: 1000, capMs: 10_000_000, jitter: 0 } as const
    expect(retryDelayMs(uncapped, 7, () => 0)).toBe(64_000)
    expect(retryDelayMs(uncapped, 50, () => 0)).toBe(64_000)
  })

  it('adds at most the jitter', () => {
    expect(retryDelayMs(defaultRetryPolicy, 1, () => 0.5)).toBe(5_500)
    expect(retryDelayMs(defaultRetryPolicy, 1, () => 0.999_999)).toBeLessThanOrEqual(6_000)
  })

  it('walks a list and stays at its end', () => {
    const policy = { kind: 'list', delaysMs: [5, 30, 300] } as const
    const list = { ...policy, delaysMs: [...policy.delaysMs] }
    expect([1, 2, 3, 4, 9].map((n) => retryDelayMs(list, n, () => 0.9))).toEqual([5, 30, 300, 300, 300])
  })

  it('never leaves what a database can add to its clock', () => {
    expect(clampDelay(-1)).toBe(0)
    expect(clampDelay(Number.NaN)).toBe(0)
    expect(clampDelay(Number.POSITIVE_INFINITY)).toBe(longestDelayMs)
    expect(retryDelayMs({ kind: 'list', delaysMs: [Number.MAX_SAFE_INTEGER] }, 1, () => 0)).toBe(longestDelayMs)
  })
})

describe('resolveSettlement', () => {
  it('follows the table of transitions for every state and outcome', () => {
    const events = {
      SUCCESS: 'succeed',
      PARTIAL_SUCCESS: 'succeedPartially',
      RETRY: 'retryLater',
      FAILED: 'fail',
      CANCELLED: 'acknowledgeCancel',
      HANDED_BACK: 'handBack'
    } as const
    for (const state of taskStates)
      for (const [outcome, event] of Object.entries(events))
        expect(resolveSettlement(state, { outcome: outcome as keyof typeof events })).toBe(nextState(state, event))
  })

  it('gives no further attempt to a task that was asked to stop, and cancels only such a one', () => {
    expect(resolveSettlement('CANCEL_REQUESTED', { outcome: 'RETRY' })).toBe('CANCELLED')
    expect(resolveSettlement('CANCEL_REQUESTED', { outcome: 'HANDED_BACK' })).toBe('CANCELLED')
    expect(resolveSettlement('RUNNING', { outcome: 'CANCELLED' })).toBeUndefined()
    expect(resolveSettlement('QUEUED', { outcome: 'SUCCESS' })).toBeUndefined()
  })
})

it('an end sets the error of its task when it has one, and success clears it', () => {
  const outcomes = ['SUCCESS', 'PARTIAL_SUCCESS', 'CANCELLED', 'HANDED_BACK'] as const
  expect(outcomes.filter((outcome) => changesError({ outcome, error: null }))).toEqual(['SUCCESS', 'PARTIAL_SUCCESS'])
  expect(changesError({ outcome: 'LEASE_EXPIRED', error: error('retryable') })).toBe(true)
})
