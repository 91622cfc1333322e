import { z } from 'zod'
import { AppError, errorCodes, taskState } from '../kernel/index.ts'
import type { ActionResult } from '../queue/task-store.ts'
import type { MaskText, OperatorAction, TaskState } from '../kernel/index.ts'

/** What every kind of entry keeps of a failure. */
export const failedOutcome = z.object({
  status: z.literal('failed'),
  code: z.enum(errorCodes),
  kind: z.enum(['user', 'operational', 'bug']),
  message: z.string()
})

/** What the audit log keeps of one action on one task, as JSON. */
const outcome = z.discriminatedUnion('status', [
  z.object({ status: z.literal('done'), from: taskState, to: taskState }),
  z.object({ status: z.literal('refused'), state: taskState }),
  z.object({ status: z.literal('missing') }),
  failedOutcome,
  /** The app ended before it knew. `state` is what the task was found in later; null when it was gone. */
  z.object({ status: z.literal('unknown'), state: taskState.nullable() })
])
export type Outcome = z.infer<typeof outcome>

export interface Answer {
  readonly from: TaskState
  readonly to: TaskState
  readonly auditId: string
}

/** Without what became of tasks that waited for it: there may be thousands. */
export const outcomeOfResult = (result: ActionResult): Outcome => outcome.parse(result)

export const outcomeOfError = ({ code, kind, message }: AppError, mask: MaskText): Outcome => ({
  status: 'failed',
  code,
  kind,
  message: mask(message)
})

/** Undefined for text that this version did not write. */
export function parseOutcome(json: string): Outcome | undefined {
  try {
    return outcome.parse(JSON.parse(json))
  } catch {
    return undefined
  }
}

/** The reply to the operator; the same for the first request and for each repetition. */
export function answerOf(action: OperatorAction, auditId: string, result: Outcome | undefined): Answer {
  switch (result?.status) {
    case 'done':
      return { from: result.from, to: result.to, auditId }
    case 'refused':
      throw new AppError(
        'ILLEGAL_TRANSITION',
        'user',
        `The task is in ${result.state} now, which does not allow ${action}. Nothing was changed.`,
        { details: { state: result.state, action, auditId } }
      )
    case 'missing':
      throw new AppError('NOT_FOUND', 'user', 'There is no such task any more.', { details: { auditId } })
    case 'failed':
      throw new AppError(result.code, result.kind, result.message, { details: { auditId } })
    default:
      throw unknownOutcome(auditId)
  }
}

export const unknownOutcome = (auditId?: string, cause?: unknown): AppError =>
  new AppError(
    'COMMIT_UNKNOWN',
    'operational',
    'It is not known whether this was carried out. Look at the state now, then act again if it is still needed.',
    { cause, details: auditId === undefined ? {} : { auditId } }
  )

export const otherRequest = (): AppError =>
  new AppError('INVALID_INPUT', 'bug', 'This request id was used before for something else. Nothing was changed.')
