import { alertProcedures } from './alert-procedures.ts'
import { connectionProcedures } from './connection-procedures.ts'
import { databaseProcedures } from './database-procedures.ts'
import { createImplementer, guarded } from './implementer.ts'
import { outsideProcedures } from './outside-procedures.ts'
import type { Services } from './services.ts'
import { taskProcedures } from './task-procedures.ts'
import { workerProcedures } from './worker-procedures.ts'

export type { Services } from './services.ts'

/** The whole contract on these services. */
export function createRouter(services: Services) {
  const { log, hub, observations, localWorker, settings, connections } = services
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
    localWorker: os.localWorker.router({
      get: os.localWorker.get.handler(() => localWorker.view()),
      start: os.localWorker.start.handler(({ input }) => localWorker.start(input)),
      stop: os.localWorker.stop.handler(() => localWorker.stop()),
      resize: os.localWorker.resize.handler(({ input }) => localWorker.resize(input.slots)),
      startSample: os.localWorker.startSample.handler(({ input }) => localWorker.startSample(input.kind)),
      stopSample: os.localWorker.stopSample.handler(() => localWorker.stopSample()),
      log: os.localWorker.log.handler(() => localWorker.log())
    })
  })
}
export type AppRouter = ReturnType<typeof createRouter>
