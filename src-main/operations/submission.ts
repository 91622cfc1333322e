import { z } from 'zod'
import type { Audit } from '../audit/index.ts'
import { AppError, toAppError } from '../kernel/index.ts'
import type { ActionTarget } from './action-target.ts'
import { failedOutcome, otherRequest, unknownOutcome } from './outcome.ts'

/** What submitting is called in the audit log, beside the operator's actions on a task. */
export const submitAction = 'submit'

export interface SubmitCounts {
  readonly created: number
  /** Were there already, by their idempotency key. */
  readonly existing: number
  readonly firstId: string
}
export type Submitted = SubmitCounts & { readonly auditId: string }

export interface SubmitRequest extends ActionTarget {
  readonly type: string
  readonly count: number
  /** One for each press; a repeated one submits nothing and gets the first answer. */
  readonly requestId: string
  /** On production the connection's name, as the operator typed it. */
  readonly confirmation: string
  readonly actor: string
  /** Writes the tasks; called once, when the intent is on disk. */
  readonly submit: () => Promise<SubmitCounts>
}

const outcome = z.discriminatedUnion('status', [
  z.object({ status: z.literal('submitted'), created: z.int(), existing: z.int(), firstId: z.string() }),
  failedOutcome
])

/** Records the intent, submits, and records what came of it. `record` must not throw: what is submitted is not taken back. */
export async function submitAudited(
  audit: Audit,
  request: SubmitRequest,
  record: (auditId: string, outcome: object | AppError) => Promise<void>
): Promise<Submitted> {
  const { actor, connectionId, type, count, requestId } = request
  const target = JSON.stringify({ type })
  const intent = await audit.intent({ actor, connectionId, action: submitAction, target, count, requestId, reason: '' })
  if (intent.status === 'repeated') {
    const { entry } = intent
    const isSame = entry.action === submitAction && entry.connectionId === connectionId && entry.target === target
    if (!isSame || entry.count !== count) throw otherRequest()
    return answerOf(entry.id, entry.outcome)
  }
  try {
    const counts = await request.submit()
    await record(intent.id, { status: 'submitted', ...counts })
    return { ...counts, auditId: intent.id }
  } catch (error) {
    const failure = toAppError(error)
    // A lost reply stays open: tasks may be there.
    if (failure.code === 'COMMIT_UNKNOWN') throw unknownOutcome(intent.id, failure)
    await record(intent.id, failure)
    throw failure
  }
}

function answerOf(auditId: string, json: string | null): Submitted {
  const known = json === null ? undefined : outcome.safeParse(JSON.parse(json)).data
  if (!known) throw unknownOutcome(auditId)
  if (known.status === 'failed') throw new AppError(known.code, known.kind, known.message, { details: { auditId } })
  const { created, existing, firstId } = known
  return { created, existing, firstId, auditId }
}
