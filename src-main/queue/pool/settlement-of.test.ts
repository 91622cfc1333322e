import { describe, expect, it } from 'vitest'
import { maskText, taskLimits, textMask } from '../../kernel/index.ts'
import type { InterruptReason } from './handler.ts'
import { claimedTask } from './lease.fixture.ts'
import type { JobEnd } from './pool-job.ts'
import { settlementOf, type EndedAttempt } from './settlement-of.ts'

const returned: JobEnd = { status: 'succeeded', partial: false, result: '1' }
const threw: JobEnd = {
  status: 'failed',
  interrupted: false,
  error: { code: 'BOOM', message: 'no', class: 'retryable' }
}
const stopped: JobEnd = { ...threw, interrupted: true, error: { code: 'ABORTED', message: '', class: 'retryable' } }
const crashed: JobEnd = { status: 'thread-ended', end: { code: 'HANDLER_CRASHED', message: 'gone' } }
const outOfMemory: JobEnd = { status: 'thread-ended', end: { code: 'OUT_OF_MEMORY', message: 'full' } }
const stuckFile: JobEnd = { status: 'thread-ended', end: { code: 'HANDLER_LOAD_FAILED', message: 'stuck' } }
const unstarted: JobEnd = { status: 'unstarted' }

const settle = (end: JobEnd, interrupted?: InterruptReason, changes: Partial<EndedAttempt> = {}) =>
  settlementOf({
    claimed: claimedTask(),
    end,
    interrupted,
    progress: undefined,
    artifacts: [],
    maskText,
    random: () => 0,
    ...changes
  })

describe('settlementOf', () => {
  it('takes a returned value as the outcome, whoever asked the handler to stop', () => {
    expect(settle(returned)).toMatchObject({ outcome: 'SUCCESS', result: '1' })
    expect(settle(returned, 'cancelled')).toMatchObject({ outcome: 'SUCCESS' })
    expect(settle(returned, 'timeout')).toMatchObject({ outcome: 'SUCCESS' })
    expect(settle(returned, 'shutdown')).toMatchObject({ outcome: 'SUCCESS' })
    expect(settle({ ...returned, partial: true })).toMatchObject({ outcome: 'PARTIAL_SUCCESS' })
  })

  it('hides what the user wants hidden in any error, and keeps it within its column', () => {
    const hiding = { maskText: textMask(['salary']) }
    const message = `salary=1 ${'salary=2 '.repeat(400)}`
    const failed: JobEnd = { ...threw, error: { code: 'BOOM', message, class: 'final' } }
    const gone: JobEnd = { ...crashed, end: { code: 'HANDLER_CRASHED', message } }
    for (const end of [failed, gone]) {
      const settlement = settle(end, undefined, hiding)
      const stored = settlement && 'error' in settlement ? settlement.error.message : ''
      expect(stored).toMatch(/^salary=•••• salary=••••/)
      expect(stored).not.toMatch(/\d/)
      expect(Buffer.byteLength(stored)).toBeLessThanOrEqual(taskLimits.errorMessageBytes)
    }
  })

  it('says nothing once the lease is lost', () => {
    for (const end of [returned, threw, crashed, unstarted]) expect(settle(end, 'lease-lost')).toBeUndefined()
  })

  it('retries a failure while attempts are left', () => {
    expect(settle(threw)).toMatchObject({ outcome: 'RETRY', delayMs: 5_000, error: { code: 'BOOM' } })
    const last = claimedTask({ attemptsUsed: 5 })
    expect(settle(threw, undefined, { claimed: last })).toMatchObject({ outcome: 'FAILED', error: { code: 'BOOM' } })
  })

  it('never retries a final error', () => {
    const final: JobEnd = { ...threw, error: { code: 'INVALID_PAYLOAD', message: '', class: 'final' } }
    expect(settle(final)).toMatchObject({ outcome: 'FAILED', error: { code: 'INVALID_PAYLOAD' } })
  })

  it('names a crash, a full heap and a timeout', () => {
    expect(settle(crashed)).toMatchObject({ error: { code: 'HANDLER_CRASHED', class: 'retryable' } })
    expect(settle(outOfMemory)).toMatchObject({ error: { code: 'OUT_OF_MEMORY', class: 'resource' } })
    expect(settle(stuckFile)).toMatchObject({ error: { code: 'HANDLER_LOAD_FAILED', class: 'resource' } })
    expect(settle(crashed, 'timeout')).toMatchObject({ error: { code: 'TIMEOUT' } })
    expect(settle(threw, 'timeout')).toMatchObject({ error: { code: 'TIMEOUT' } })
  })

  it('ends a cancelled task as cancelled and a stopped one as handed back', () => {
    for (const end of [stopped, crashed, unstarted]) {
      expect(settle(end, 'cancelled')).toMatchObject({ outcome: 'CANCELLED' })
      expect(settle(end, 'shutdown')).toMatchObject({ outcome: 'HANDED_BACK' })
    }
  })

  it('keeps a failure that is not due to the stop, of a cancelled and of a stopped task', () => {
    const final: JobEnd = { ...threw, error: { code: 'NO_SUCH_ACCOUNT', message: '', class: 'final' } }
    for (const reason of ['cancelled', 'shutdown'] as const) {
      expect(settle(threw, reason)).toMatchObject({ outcome: 'RETRY', error: { code: 'BOOM' } })
      expect(settle(final, reason)).toMatchObject({ outcome: 'FAILED', error: { code: 'NO_SUCH_ACCOUNT' } })
    }
  })

  it('carries the last progress and the files', () => {
    const progress = { total: 2, processed: 1, succeeded: 1, failed: 0, skipped: 0 }
    const artifacts = [{ name: 'a', contentType: 't', bytes: 1, host: 'h', path: '/a', expiresInMs: 1 }]
    expect(settle(returned, undefined, { progress, artifacts })).toMatchObject({ progress, artifacts })
  })
})
