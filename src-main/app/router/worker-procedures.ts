import type { Implementer } from './implementer.ts'
import type { Services } from './services.ts'

export function workerProcedures(os: Implementer, { connections, operations, actor }: Services) {
  return os.workers.router({
    request: os.workers.request.handler(async ({ input }) => {
      const { connectionId, workerId, request, requestId, confirmation } = input
      const target = connections.target(connectionId)
      const store = await connections.writableStore(connectionId)
      return {
        ...(await operations.requestWorker({ ...target, store, workerId, request, requestId, confirmation, actor }))
      }
    }),
    lanes: os.workers.lanes.handler(async ({ input }) => {
      const { connectionId, ...window } = input
      const store = await connections.store(connectionId)
      const { ended, running, limits, ...rest } = await store.recentAttempts(window)
      return { ...rest, ended: [...ended], running: [...running], limits: [...limits] }
    })
  })
}
