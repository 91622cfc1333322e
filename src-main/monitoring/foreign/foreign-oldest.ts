import type { ProbeRound, QueueReading, SqlValue } from '../../kernel/index.ts'
import { decodeTime, type CompiledProfile, type SliceProbes } from '../../schema-profiles/index.ts'
import { ask, findTypes, typesAtOnce, type ForeignDepth } from './foreign-depth.ts'
import { numberOf, onlyType, textOf, typeName } from './row-values.ts'
import type { SearchTime } from './search-time.ts'

type Oldest = QueueReading['oldest'][number]

/** One dive into the index for each type of each slice that waits. What is not due yet is no longer waiting than any other. */
export async function readForeignOldest(
  round: ProbeRound,
  { profile, slices }: CompiledProfile,
  {
    nowMs,
    depth,
    time
  }: { readonly nowMs: number; readonly depth: ForeignDepth | undefined; readonly time: SearchTime }
): Promise<Oldest[]> {
  const oldest = new Map<string, Oldest>()
  for (const slice of slices) {
    if (!slice.oldest) continue
    const types = depth?.types.get(slice) ?? onlyType(profile) ?? (await allTypes(round, slice, time))
    for (const head of await headsOf(round, slice, { types: types ?? [], nowMs })) {
      const type = typeName(profile, head.type)
      if (head.ageMs >= (oldest.get(type)?.ageMs ?? 0)) oldest.set(type, { type, taskId: head.id, ageMs: head.ageMs })
    }
  }
  return [...oldest.values()].sort((a, b) => b.ageMs - a.ageMs)
}

async function allTypes(
  round: ProbeRound,
  slice: SliceProbes,
  time: SearchTime
): Promise<readonly SqlValue[] | undefined> {
  const types = await findTypes(round, slice, { name: 'oldest', time })
  // Where types lie mixed, those of a long slice are not all known. What the guard held back has its reason already.
  if (!types) round.cut({ probe: 'oldest', reason: 'budget', index: null })
  return types?.found
}

interface Head {
  readonly type: SqlValue
  readonly id: string
  readonly ageMs: number
}

async function headsOf(
  round: ProbeRound,
  { oldest, stateName }: SliceProbes,
  { types, nowMs }: { readonly types: readonly SqlValue[]; readonly nowMs: number }
): Promise<Head[]> {
  const heads: Head[] = []
  for (let start = 0; oldest && start < types.length; start += typesAtOnce) {
    const chunk = types.slice(start, start + typesAtOnce)
    for (const row of (await ask(round, oldest.heads(chunk, nowMs))) ?? []) {
      const since = decodeTime(oldest.encoding, row['since'])
      if (since === null) {
        const why = `a task that is "${stateName}" has no time in ${oldest.since}`
        round.cut({ probe: 'oldest', reason: 'data', index: null, why })
      } else if (since <= nowMs)
        heads.push({ type: chunk[numberOf(row, 'position')] ?? null, id: textOf(row['id']), ageMs: nowMs - since })
    }
  }
  return heads
}
