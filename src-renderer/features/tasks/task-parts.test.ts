import { describe, expect, it } from 'vitest'
import type { Attempt } from '@contract'
import { clinicTypes, readingAt } from '@/testing/demo-queue.ts'
import { columnsThatFit } from './columns.ts'
import { facetCounts } from './facets.ts'
import { jsonLines } from './json-lines.ts'
import { addSample, rateOf, timeLeft, type ProgressSample } from './progress-rate.ts'
import {
  attemptsSpan,
  attemptsText,
  axisTimes,
  isLastTry,
  nextRun,
  offeredActions,
  outcomeMark,
  visitedStates
} from './task-facts.ts'

const attempt = (change: Partial<Attempt>): Attempt => ({
  attempt: 1,
  workerId: 'w',
  dueAt: 0,
  startedAt: 10_000,
  endedAt: 20_000,
  outcome: 'RETRY',
  error: null,
  progress: null,
  ...change
})

describe('JSON to read', () => {
  const written = (text: string): string =>
    jsonLines(text)!
      .map((line) => '  '.repeat(line.depth) + line.parts.map((part) => part.text).join(''))
      .join('\n')

  it('is laid out as JSON.stringify would', () => {
    const value = { a: [1, { b: 'x: {y}, [z]' }, [], {}], 'c "q"': null, d: true, e: -1.5e10 }
    expect(written(JSON.stringify(value))).toBe(JSON.stringify(value, null, 2))
  })

  it('keeps numbers that JavaScript would round', () => {
    expect(written('{"id":9007199254740993}')).toContain('9007199254740993')
  })

  it('marks masked values and tells keys from texts', () => {
    const parts = jsonLines('{"token":"••••","name":"x"}')!.flatMap((line) => line.parts)
    expect(parts.filter((part) => part.kind === 'masked').map((part) => part.text)).toEqual(['"••••"'])
    expect(parts.filter((part) => part.kind === 'key').map((part) => part.text)).toEqual(['"token"', '"name"'])
  })

  it('is no JSON when it is not', () => {
    expect(jsonLines('{"a":')).toBeNull()
  })
})

describe('the rate of progress', () => {
  const task = (processed: number, attemptNumber = 2) => ({
    attempt: attemptNumber,
    state: 'RUNNING' as const,
    progress: { total: 1_000, processed, succeeded: processed, failed: 0, skipped: 0 }
  })
  const over = (...looks: [at: number, processed: number, attempt?: number][]): readonly ProgressSample[] =>
    looks.reduce<readonly ProgressSample[]>((all, [at, done, n]) => addSample(all, task(done, n), at), [])

  it('is unknown until two looks at the same attempt tell it', () => {
    expect(rateOf(over([0, 400]))).toBeNull()
    expect(rateOf(over([0, 400, 1], [5_000, 500, 2]))).toBeNull()
  })

  it('counts from the first look, not from zero: an attempt may resume', () => {
    const rate = rateOf(over([0, 400], [5_000, 500]))
    expect(rate).toBe(20)
    expect(timeLeft(task(500).progress, rate)).toBe(25_000)
  })

  it('gives no time left without a total or without movement', () => {
    expect(timeLeft({ ...task(5).progress, total: null }, 20)).toBeNull()
    expect(timeLeft(task(5).progress, 0)).toBeNull()
  })
})

describe('when a task runs next', () => {
  it('is the end of its wait, or the moment that it was submitted for', () => {
    expect(nextRun({ state: 'RETRY_WAIT', runAt: 13_000 }, 1_000)).toEqual({ kind: 'again', inMs: 12_000 })
    expect(nextRun({ state: 'RETRY_WAIT', runAt: 900 }, 1_000)).toEqual({ kind: 'due', inMs: 0 })
    expect(nextRun({ state: 'QUEUED', runAt: 3_000 }, 1_000)).toEqual({ kind: 'first', inMs: 2_000 })
  })

  it('is not said of one that could run now or is not waiting', () => {
    expect(nextRun({ state: 'QUEUED', runAt: 900 }, 1_000)).toBeNull()
    expect(nextRun({ state: 'PAUSED', runAt: 9_000 }, 1_000)).toBeNull()
    expect(nextRun({ state: 'SUCCESS', runAt: 9_000 }, 1_000)).toBeNull()
  })
})

describe('the count of attempts', () => {
  const tries = { state: 'RUNNING' as const, attempt: 2, attemptsUsed: 2, maxAttempts: 5 }

  it('says both numbers where a retry by hand or a hand-back makes them differ', () => {
    expect(attemptsText(tries)).toEqual(['tasks.attemptsUsed', { used: 2, most: 5 }])
    expect(attemptsText({ ...tries, attempt: 6, attemptsUsed: 1 })).toEqual([
      'tasks.attemptsCounted',
      { all: 6, used: 1, most: 5 }
    ])
  })

  it('calls the next failure final in the last attempt and while it is waited for, not one before', () => {
    expect(isLastTry({ ...tries, attemptsUsed: 4 })).toBe(false)
    expect(isLastTry({ ...tries, attemptsUsed: 5 })).toBe(true)
    expect(isLastTry({ ...tries, state: 'RETRY_WAIT', attemptsUsed: 4 })).toBe(true)
    expect(isLastTry({ ...tries, state: 'FAILED', attemptsUsed: 5 })).toBe(false)
  })
})

describe('what a task has been', () => {
  it('is what its rows prove', () => {
    expect(visitedStates({ state: 'CREATED', attempts: [] })).toEqual(['CREATED'])
    expect(visitedStates({ state: 'FAILED', attempts: [] })).toEqual(['FAILED'])
    expect(visitedStates({ state: 'PAUSED', attempts: [] })).toEqual(['PAUSED', 'QUEUED'])
    expect(visitedStates({ state: 'FAILED', attempts: [attempt({})] }).sort()).toEqual(
      ['FAILED', 'QUEUED', 'RETRY_WAIT', 'RUNNING'].sort()
    )
  })

  it('marks how each attempt ended; the open one by its task', () => {
    expect(outcomeMark(attempt({ outcome: null }), 'CANCEL_REQUESTED')).toBe('CANCEL_REQUESTED')
    expect(outcomeMark(attempt({ outcome: 'HANDED_BACK' }), 'SUCCESS')).toBe('QUEUED')
    expect(outcomeMark(attempt({ outcome: 'PARTIAL_SUCCESS' }), 'PARTIAL_SUCCESS')).toBe('PARTIAL_SUCCESS')
    expect(outcomeMark(attempt({ outcome: 'BOGUS' as 'FAILED' }), 'FAILED')).toBe('CREATED')
  })

  it('offers resuming in place of pausing, and releasing only to a held one', () => {
    expect(offeredActions('PAUSED')).toEqual(['cancel', 'resume', 'retry'])
    expect(offeredActions('CREATED')).toEqual(['release', 'cancel', 'pause', 'retry'])
  })
})

describe('the axis of attempts', () => {
  it('reaches to now while one runs, and is never empty', () => {
    expect(attemptsSpan([attempt({ endedAt: null, outcome: null })], 99_000)).toEqual({ from: 0, to: 99_000 })
    expect(attemptsSpan([attempt({ startedAt: 0, endedAt: 0 })], 0)).toEqual({ from: 0, to: 1_000 })
  })

  it.each([1_000, 9_000, 90_000, 3_600_000, 9e9, 9e11])('has a few round moments over %d ms', (to) => {
    const times = axisTimes({ from: 0, to })
    expect(times.length).toBeGreaterThan(0)
    expect(times.length).toBeLessThanOrEqual(6)
    expect(times.every((at) => at >= 0 && at <= to)).toBe(true)
  })
})

it('columns leave by rank when there is no room; one fixed type leaves first', () => {
  expect(columnsThatFit(2_000, false)).toHaveLength(8)
  expect(columnsThatFit(800, false)).not.toContain('worker')
  expect(columnsThatFit(800, true)).not.toContain('type')
  expect(columnsThatFit(100, false)).toEqual(['state', 'id', 'attempt', 'age'])
})

it('facets count live states only, of the chosen types when there are some', () => {
  const scene = { types: clinicTypes, failingSinceMs: null, workers: 0, silent: 0, gap: null, startedAt: 0 }
  const reading = readingAt(scene, 0)
  const all = facetCounts(reading, [])
  expect(all.get('PAUSED')).toBe(0)
  expect(all.has('SUCCESS')).toBe(false)
  expect(facetCounts(reading, ['mail.send']).get('QUEUED')).toBeLessThan(all.get('QUEUED')!)
  expect(facetCounts(null, []).size).toBe(0)
})
