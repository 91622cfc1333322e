import { randomUUID } from 'node:crypto'
import type { Audit } from '../../audit/index.ts'
import { toAppError, type AppError } from '../../kernel/index.ts'

export interface AuditedOptions {
  readonly audit: Audit
  readonly actor: string
  /** The change is done and its outcome could not be recorded. */
  readonly onUnrecorded: (error: AppError) => void
}

export interface AuditedChange {
  /** '' for what belongs to no connection. */
  readonly connectionId: string
  readonly action: string
  /** What is changed, and to what; never a secret. */
  readonly target: string
  readonly reason?: string
}

/** Carries out what an operator changes in how Taskdeck watches. Throws AUDIT_UNAVAILABLE or DISK_FULL, then nothing was changed, and what `work` throws. */
export async function audited<T>(
  { audit, actor, onUnrecorded }: AuditedOptions,
  { connectionId, action, target, reason = '' }: AuditedChange,
  work: () => T | Promise<T>
): Promise<T> {
  // No task is touched.
  const about = { actor, connectionId, action, target, reason, count: 0, requestId: randomUUID() }
  const { id } = await intentOf(audit, about)
  const record = (outcome: object): Promise<void> =>
    audit.outcome(id, JSON.stringify(outcome)).catch((error: unknown) => onUnrecorded(toAppError(error)))
  try {
    const result = await work()
    await record({ status: 'done' })
    return result
  } catch (error) {
    const { code, kind, message } = toAppError(error)
    await record({ status: 'failed', code, kind, message })
    throw error
  }
}

async function intentOf(audit: Audit, about: Parameters<Audit['intent']>[0]): Promise<{ id: string }> {
  const intent = await audit.intent(about)
  return intent.status === 'new' ? intent : intent.entry
}
