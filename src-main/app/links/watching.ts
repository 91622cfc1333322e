import { AppError, type Clock, type ProbeGuard, type SqlDatabase } from '../../kernel/index.ts'
import { createCostGuard } from '../../monitoring/index.ts'

/** Probes on a session of their own. */
export interface Watching {
  readonly probes: ProbeGuard
  /** Ends the session, also one that is just being opened. */
  readonly close: () => Promise<void>
}

/** The session is opened with the first round: who never reads needs none. `open` is asked again when it failed. */
export function watchingOn(open: () => Promise<SqlDatabase>, clock: Clock): Watching {
  let opening: Promise<{ database: SqlDatabase; guard: ProbeGuard }> | undefined
  let isClosed = false
  const opened = async (): Promise<{ database: SqlDatabase; guard: ProbeGuard }> => {
    if (isClosed) throw new AppError('CONNECTION_LOST', 'operational', 'This connection was closed meanwhile.')
    opening ??= open().then((database) => ({ database, guard: createCostGuard({ database, clock }) }))
    try {
      return await opening
    } catch (error) {
      opening = undefined
      throw error
    }
  }
  return {
    probes: { begin: async (signal) => (await opened()).guard.begin(signal) },
    close: async () => {
      isClosed = true
      const known = await opening?.catch(() => undefined)
      await known?.database.close()
    }
  }
}
