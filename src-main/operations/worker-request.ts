import { z } from 'zod'
import type { Audit } from '../audit/index.ts'
import { AppError, toAppError, type WorkerRequest } from '../kernel/index.ts'
import type { TaskStore } from '../queue/task-store.ts'
import type { ActionTarget } from './action-target.ts'
import { failedOutcome, otherRequest, unknownOutcome } from './outcome.ts'

/** What asking a worker is called in the audit log; `worker.wake` takes back what was asked. */
export const workerActions = ['worker.quiet', 'worker.stop', 'worker.wake'] as const
export type WorkerAction = (typeof workerActions)[number]

export interface WorkerRequestCall extends ActionTarget {
  readonly store: Pick<TaskStore, 'requestWorker'>
  readonly workerId: string
  /** null takes back what was asked before. */
  readonly request: WorkerRequest | null
  /** One for each press; a repeated one changes nothing and gets the first answer. */
  readonly requestId: string
  /** On production the connection's name, as the operator typed it. */
  readonly confirmation: string
  readonly actor: string
}

/** The request is in the worker's row; the worker follows with its next report. */
export interface WorkerRequested {
  readonly auditId: string
}

const outcome = z.discriminatedUnion('status', [
  z.object({ status: z.literal('requested') }),
  z.object({ status: z.literal('missing') }),
  failedOutcome
])
type RequestOutcome = z.infer<typeof outcome>

/** Records the intent, asks, and records what came of it. `record` must not throw: what was asked is not taken back. */
export async function requestAudited(
  audit: Audit,
  call: WorkerRequestCall,
  record: (auditId: string, outcome: object | AppError) => Promise<void>
): Promise<WorkerRequested> {
  const { actor, connectionId, requestId, store, workerId, request } = call
  const action = actionOf(request)
  const target = JSON.stringify({ worker: workerId })
  const intent = await audit.intent({ actor, connectionId, action, target, count: 1, requestId, reason: '' })
  if (intent.status === 'repeated') {
    const { entry } = intent
    const isSame = entry.action === action && entry.connectionId === connectionId && entry.target === target
    if (!isSame) throw otherRequest()
    return answerOf(entry.id, entry.outcome === null ? undefined : outcome.safeParse(JSON.parse(entry.outcome)).data)
  }
  let result: RequestOutcome
  try {
    result = { status: (await store.requestWorker(workerId, request)) ? 'requested' : 'missing' }
  } catch (error) {
    const failure = toAppError(error)
    // A lost reply stays open: the request may be there.
    if (failure.code === 'COMMIT_UNKNOWN') throw unknownOutcome(intent.id, failure)
    await record(intent.id, failure)
    throw failure
  }
  await record(intent.id, result)
  return answerOf(intent.id, result)
}

function actionOf(request: WorkerRequest | null): WorkerAction {
  if (request === null) return 'worker.wake'
  return request === 'QUIET' ? 'worker.quiet' : 'worker.stop'
}

function answerOf(auditId: string, result: RequestOutcome | undefined): WorkerRequested {
  switch (result?.status) {
    case 'requested':
      return { auditId }
    case 'missing':
      throw new AppError(
        'WORKER_GONE',
        'user',
        'This worker stopped or gives no sign of life: nobody would see the request.',
        { details: { auditId } }
      )
    case 'failed':
      throw new AppError(result.code, result.kind, result.message, { details: { auditId } })
    default:
      throw unknownOutcome(auditId)
  }
}
