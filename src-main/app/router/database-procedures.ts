import { DatabaseWatches } from '../database/database-watches.ts'
import { foreignPlace, openWatchedFile, openWatchedServer } from '../database/open-watched.ts'
import { toProblem } from '../problem.ts'
import { guarded, type Implementer } from './implementer.ts'
import type { Services } from './services.ts'

export function databaseProcedures(os: Implementer, services: Services) {
  const { clock, connections, observations, log } = services
  const watches = new DatabaseWatches({
    clock,
    identity(connectionId) {
      const { kind, mysql, password, profile } = connections.view(connectionId)
      return JSON.stringify([kind, mysql, password, profile])
    },
    async open(connectionId) {
      const table = foreignPlace(connections.view(connectionId))
      const options = { clock, table, reading: () => observations.reading(connectionId) }
      const login = await connections.login(connectionId)
      return login ? openWatchedServer(login, options) : openWatchedFile(services.info().localQueueFile, options)
    },
    toProblem: (error) => toProblem(error, log)
  })
  return os.database.router({
    watch: os.database.watch.handler(({ input, signal }) =>
      guarded(watches.watch(input.connectionId, signal), log, signal)
    )
  })
}
