import { defineStore } from 'pinia'
import { useClient } from '@/transport/client.ts'
import { requestOf, type Asking } from './worker-requests.ts'

export interface WorkerCall {
  readonly connectionId: string
  readonly workerId: string
  readonly asking: Asking
  /** The connection's name, typed, when it is production. */
  readonly confirmation: string
}

/** What is asked of workers; their rows tell with the next reading. */
export const useWorkerRequestsStore = defineStore('worker-requests', () => {
  /** One press is one request id, so that the app can tell a repetition. Rejects with what `toProblem` reads. */
  const ask = ({ asking, ...call }: WorkerCall): Promise<{ auditId: string }> =>
    useClient().workers.request({ ...call, request: requestOf[asking], requestId: crypto.randomUUID() })

  return { ask }
})
