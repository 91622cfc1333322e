import { alertProcedures } from './alert-procedures.ts'
import { connectionProcedures } from './connection-procedures.ts'
import { databaseProcedures } from './database-procedures.ts'
import { createImplementer, guarded } from './implementer.ts'
import { localWorkerProcedures } from './local-worker-procedures.ts'
import { outsideProcedures } from './outside-procedures.ts'
import type { Services } from './services.ts'
import { taskProcedures } from './task-procedures.ts'
import { workerProcedures } from './worker-procedures.ts'

export type { Services } from './services.ts'

/** The whole contract on these services. */
export function createRouter(services: Services) {
  const { log, hub, observations, settings, connections } = services
  const os = createImplementer(log, services.validateOutputs)
  return os.router({
    app: os.app.router({
      info: os.app.info.handler(() => services.info()),
      saveSettings: os.app.saveSettings.handler(({ input }) => settings.save(input)),
      events: os.app.events.handler(({ signal }) => guarded(hub.subscribe(signal), log, signal))
    }),
    connections: connectionProcedures(os, services),
    overview: os.overview.router({
      snapshot: os.overview.snapshot.handler(({ input }) => {
        connections.view(input.connectionId) // throws NOT_FOUND for one that is gone
        return observations.snapshot(input.connectionId, input)
      })
    }),
    tasks: taskProcedures(os, services),
    workers: workerProcedures(os, services),
    database: databaseProcedures(os, services),
    alerts: alertProcedures(os, services),
    outside: outsideProcedures(os, services),
    localWorker: localWorkerProcedures(os, services)
  })
}
export type AppRouter = ReturnType<typeof createRouter>
