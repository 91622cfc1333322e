import type { ProbeGuard, QueueReading } from '../../kernel/index.ts'
import {
  columnsProbe,
  columnsProbeValues,
  compileProfile,
  requireColumns,
  unknownFigures,
  type TableProfile
} from '../../schema-profiles/index.ts'
import { readForeignDepth } from './foreign-depth.ts'
import { readForeignFlow } from './foreign-flow.ts'
import { readForeignOldest } from './foreign-oldest.ts'

/**
 * Reads a table that is not ours by its profile, as our own is read: statements of their own under the guard, each figure with how it was
 * got. What the table does not say is in the reading's limits with the reason. Before its first reading it throws INVALID_INPUT when the profile does
 * not fit the table.
 */
export function createForeignReader(
  profile: TableProfile,
  guard: ProbeGuard
): (signal?: AbortSignal) => Promise<QueueReading> {
  const compiled = compileProfile(profile)
  const unknown = unknownFigures(profile)
  let fits = false
  return async (signal) => {
    const round = await guard.begin(signal)
    if (!fits) {
      const columns = await round.rows(columnsProbe, columnsProbeValues(profile))
      if (columns) requireColumns(profile, columns)
      fits = columns !== undefined
    }
    for (const limit of unknown) round.cut(limit)
    const nowMs = Date.parse(`${round.now.replace(' ', 'T')}Z`)
    const depth = await readForeignDepth(round, compiled, nowMs)
    const knowsOldest = !unknown.some(({ probe }) => probe === 'oldest')
    const oldest = knowsOldest ? await readForeignOldest(round, compiled, { nowMs, depth }) : []
    const flow = await readForeignFlow(round, compiled, nowMs)
    const { costMs, costRows, server, limits } = await round.end()
    return {
      at: nowMs,
      depth: depth?.depth ?? [],
      oldest,
      flow,
      duration: null,
      pickup: null,
      workers: [],
      server,
      schedulesLate: null,
      costMs,
      costRows,
      limits: [...limits]
    }
  }
}
