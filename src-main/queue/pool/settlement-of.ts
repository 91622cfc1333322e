import type { AttemptError, MaskText, Progress } from '../../kernel/index.ts'
import { decideRetry } from '../retry.ts'
import type { ClaimedTask, NewArtifact, Settlement } from '../task-store.ts'
import { attemptErrorOf, maskedError } from './error-classes.ts'
import type { InterruptReason } from './handler.ts'
import type { JobEnd } from './pool-job.ts'

export interface EndedAttempt {
  readonly claimed: ClaimedTask
  readonly end: JobEnd
  readonly interrupted: InterruptReason | undefined
  readonly progress: Progress | undefined
  readonly artifacts: readonly NewArtifact[]
  readonly maskText: MaskText
  /** A number in [0, 1). */
  readonly random: () => number
}

/**
 * What the store is told about an ended execution; undefined when the lease is lost and there is nothing to say any more.
 * A value that the handler returned is its real outcome, also after it was asked to stop; so is what it threw for another reason, but for a
 * timeout: whatever it throws after that is one.
 */
export function settlementOf(ended: EndedAttempt): Settlement | undefined {
  const { claimed, end, interrupted, progress, artifacts } = ended
  if (interrupted === 'lease-lost') return undefined
  const common = { fence: claimed.fence, ...(progress && { progress }), ...(artifacts.length > 0 && { artifacts }) }
  if (end.status === 'succeeded') {
    return { ...common, outcome: end.partial ? 'PARTIAL_SUCCESS' : 'SUCCESS', result: end.result }
  }
  const failedByItself = end.status === 'failed' && !end.interrupted
  if (interrupted === 'cancelled' && !failedByItself) return { ...common, outcome: 'CANCELLED' }
  if (end.status === 'unstarted' || (interrupted === 'shutdown' && !failedByItself)) {
    return { ...common, outcome: 'HANDED_BACK' }
  }
  const error = interrupted === 'timeout' ? timeoutError(claimed) : maskedError(errorOf(end), ended.maskText)
  const decision = decideRetry({
    error,
    attemptsUsed: claimed.attemptsUsed,
    maxAttempts: claimed.maxAttempts,
    policy: claimed.retryPolicy,
    random: ended.random
  })
  return { ...common, error, ...decision }
}

function errorOf(end: Exclude<JobEnd, { status: 'succeeded' | 'unstarted' }>): AttemptError {
  if (end.status === 'failed') return end.error
  return attemptErrorOf(end.end.code, end.end.message, end.end.code === 'HANDLER_CRASHED' ? 'retryable' : 'resource')
}

const timeoutError = ({ timeoutMs }: ClaimedTask): AttemptError =>
  attemptErrorOf('TIMEOUT', `The attempt took longer than its ${timeoutMs} ms.`, 'retryable')
