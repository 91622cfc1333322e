import { AppError } from '../../kernel/index.ts'
import { checkAllowed } from '../../operations/index.ts'
import type { Implementer } from './implementer.ts'
import type { Services } from './services.ts'

/** What makes tasks run is asked for and recorded like any change; stopping is never in anybody's way. */
export function localWorkerProcedures(os: Implementer, { localWorker, connections, audited }: Services) {
  return os.localWorker.router({
    get: os.localWorker.get.handler(() => localWorker.view()),
    start: os.localWorker.start.handler(({ input: { confirmation, ...start } }) => {
      const { connectionId, ...how } = start
      checkAllowed({ ...connections.target(connectionId), confirmation })
      const change = { connectionId, action: 'localWorker.start', target: JSON.stringify(how) }
      return audited(change, () => localWorker.start(start))
    }),
    stop: os.localWorker.stop.handler(() => localWorker.stop()),
    resize: os.localWorker.resize.handler(({ input }) => localWorker.resize(input.slots)),
    startSample: os.localWorker.startSample.handler(({ input: { connectionId, kind } }) => {
      if (connections.target(connectionId).environment === 'production') throw notForProduction()
      const change = { connectionId, action: 'localWorker.startSample', target: kind }
      return audited(change, () => localWorker.startSample(connectionId, kind))
    }),
    stopSample: os.localWorker.stopSample.handler(() => localWorker.stopSample()),
    log: os.localWorker.log.handler(() => localWorker.log())
  })
}

const notForProduction = (): AppError =>
  new AppError('INVALID_INPUT', 'user', 'A sample workload is never put into a production queue.', {
    details: { field: 'connectionId' }
  })
