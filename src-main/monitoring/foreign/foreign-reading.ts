import type { Clock, ProbeGuard, ProbeRound, QueueReading } from '../../kernel/index.ts'
import {
  columnsProbe,
  columnsProbeValues,
  compileProfile,
  indexesOf,
  indexesProbe,
  requireColumns,
  unknownFigures,
  type CompiledProfile,
  type TableProfile
} from '../../schema-profiles/index.ts'
import { SearchTime } from './search-time.ts'
import { readForeignDepth } from './foreign-depth.ts'
import { readForeignFlow } from './foreign-flow.ts'
import { readForeignOldest } from './foreign-oldest.ts'

/** Indexes are looked up again so long after some were missing: somebody may have made them. */
const lookAgainMs = 60_000

/**
 * Reads a table that is not ours by its profile, as our own is read: statements of their own under the guard, each figure with how it was
 * got. What the table does not say is in the reading's limits with the reason. Throws INVALID_INPUT when the profile does not fit the table.
 */
export function createForeignReader(
  profile: TableProfile,
  { guard, clock }: { readonly guard: ProbeGuard; readonly clock: Clock }
): (signal?: AbortSignal) => Promise<QueueReading> {
  const unknown = unknownFigures(profile)
  let known: { readonly compiled: CompiledProfile; readonly sinceMs: number } | undefined
  let lacksIndex = false
  return async (signal) => {
    const round = await guard.begin(signal)
    const nowMs = Date.parse(`${round.now.replace(' ', 'T')}Z`)
    if (!known || (lacksIndex && nowMs - known.sinceMs >= lookAgainMs)) {
      const compiled = await compileFor(round, profile)
      // What is known stays while the guard holds the look back.
      if (compiled) known = { compiled, sinceMs: nowMs }
    }
    for (const limit of unknown) round.cut(limit)
    const compiled = known?.compiled ?? compileProfile(profile, [])
    const time = new SearchTime(clock)
    const depth = await readForeignDepth(round, compiled, { nowMs, time })
    const knowsOldest = !unknown.some(({ probe }) => probe === 'oldest')
    const oldest = knowsOldest ? await readForeignOldest(round, compiled, { nowMs, depth, time }) : []
    const flow = await readForeignFlow(round, compiled, nowMs)
    const { costMs, costRows, server, limits } = await round.end()
    lacksIndex = limits.some(({ reason }) => reason === 'plan')
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

/** By what the server tells of the table; undefined when the guard held that back. */
async function compileFor(round: ProbeRound, profile: TableProfile): Promise<CompiledProfile | undefined> {
  const place = columnsProbeValues(profile)
  const columns = await round.rows(columnsProbe, place)
  if (!columns) return undefined
  requireColumns(profile, columns)
  const indexes = await round.rows(indexesProbe, place)
  return indexes && compileProfile(profile, indexesOf(indexes))
}
