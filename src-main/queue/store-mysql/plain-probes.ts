import {
  explain,
  type Clock,
  type Probe,
  type ProbeGuard,
  type ProbeRound,
  type SqlDatabase,
  type SqlRow
} from '../../kernel/index.ts'
import { count, text } from './row-values.ts'

/**
 * Probes without a guard, for a process that reads its own queue now and then, such as a worker's metrics: each statement runs as it is,
 * under the time limit of the database's sessions.
 */
export function plainProbes(database: SqlDatabase, clock: Clock): ProbeGuard {
  const begin = async (signal?: AbortSignal): Promise<ProbeRound> => {
    const began = clock.monotonic()
    const rowsOf = async (sql: string, values: Parameters<ProbeRound['rows']>[1] = []): Promise<readonly SqlRow[]> =>
      (await database.execute(sql, values, { signal })).rows
    const limits: Parameters<ProbeRound['cut']>[0][] = []
    const [now] = await rowsOf('SELECT NOW(6) AS now')
    return {
      now: text(now ?? {}, 'now'),
      rows: (probe: Probe, values) => rowsOf(probe.sql, values),
      expectedRows: async (probe, values) => expectedRowsOf(await rowsOf(explain(probe.sql), values)),
      cut: (limit) => void limits.push(limit),
      end: () => Promise.resolve({ costMs: clock.monotonic() - began, costRows: null, server: null, limits })
    }
  }
  return { begin }
}

/** Of the tables that the plan reads, in order. */
const expectedRowsOf = (plan: readonly SqlRow[]): number[] =>
  plan
    .filter(({ table }) => typeof table === 'string' && !table.startsWith('<'))
    .map((step) => (step['rows'] === null ? 0 : count(step, 'rows')))
