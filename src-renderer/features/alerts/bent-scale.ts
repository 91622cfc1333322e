import { clock } from '@/shared/format/format.ts'

const hour = 3_600_000
const day = 86_400_000

/** What the lanes may show: all of it on the left half, and its newest part over the right half, where the reader looks. */
export const spans = {
  '24h': { ms: day, nearMs: hour },
  '7d': { ms: 7 * day, nearMs: day },
  '30d': { ms: 30 * day, nearMs: 7 * day }
} as const
export type SpanName = keyof typeof spans
export const spanNames = Object.keys(spans) as SpanName[]
export const toSpan = (text: string | null): SpanName => spanNames.find((name) => name === text) ?? '24h'

export interface BentScale {
  readonly from: number
  /** From here on time is drawn wider. */
  readonly bend: number
  readonly to: number
  /** Percent of the width. */
  readonly x: (at: number) => number
  readonly ticks: readonly { readonly at: number; readonly label: string }[]
}

export function bentScale(name: SpanName, to: number): BentScale {
  const { ms, nearMs } = spans[name]
  const from = to - ms
  const bend = to - nearMs
  const x = (at: number): number => {
    const inside = Math.min(to, Math.max(from, at))
    if (inside < bend) return ((inside - from) / (bend - from)) * 50
    return 50 + ((inside - bend) / (to - bend)) * 50
  }
  return { from, bend, to, x, ticks: [...ticksIn(from, bend), ...ticksIn(bend, to)] }
}

const steps = [600_000, 3 * hour, 6 * hour, day, 2 * day, 7 * day]

/** Four to seven round moments, none at the very edges, where there is no room for their labels. */
function ticksIn(from: number, to: number): { at: number; label: string }[] {
  const step = steps.find((one) => (to - from) / one <= 7) ?? day
  const margin = (to - from) * 0.06
  const found: { at: number; label: string }[] = []
  for (let at = Math.ceil((from + margin) / step) * step; at <= to - margin * 0.3; at += step) {
    found.push({ at, label: at % day === 0 ? new Date(at).toISOString().slice(5, 10) : clock(at) })
  }
  return found
}
