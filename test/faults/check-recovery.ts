import type { RecoveryPromise, Span, WitnessEvent } from './evidence.ts'

/** Says how late a lost attempt was recovered, when that is too late. Time in which nobody could have done it is not counted. */
export function checkRecovery(
  { atMs, leaseOverMs }: WitnessEvent,
  { withinMs, outages }: RecoveryPromise
): string | undefined {
  const overMs = leaseOverMs ?? 0
  const waitedMs = overMs - coveredMs({ fromMs: atMs - overMs, toMs: atMs }, outages)
  if (waitedMs <= withinMs) return undefined
  return `recovered ${Math.round(waitedMs)} ms after its lease, outages not counted, not within ${withinMs}`
}

/** How much of the span lies in at least one of the others. */
function coveredMs({ fromMs, toMs }: Span, others: readonly Span[]): number {
  let covered = 0
  let reached = fromMs
  for (const other of [...others].sort((a, b) => a.fromMs - b.fromMs)) {
    const from = Math.max(reached, other.fromMs)
    const to = Math.min(toMs, other.toMs)
    if (to <= from) continue
    covered += to - from
    reached = to
  }
  return covered
}
