import { defaultRetryPolicy } from '../../kernel/index.ts'
import type { ClaimedTask } from '../task-store.ts'

export function claimedTask(changes: Partial<ClaimedTask> & { taskId?: string } = {}): ClaimedTask {
  const { taskId = '1', ...rest } = changes
  return {
    fence: { taskId, workerId: 'worker', attempt: 1 },
    type: 'sleep',
    payload: '{}',
    title: '',
    owner: '',
    businessKey: null,
    attemptsUsed: 1,
    maxAttempts: 5,
    retryPolicy: defaultRetryPolicy,
    timeoutMs: null,
    leaseMs: 30_000,
    checkpoint: null,
    idempotencyKey: 'key',
    ...rest
  }
}
