import { waitOf, type CapacityInputs } from './model.ts'

export interface CurvePoint {
  readonly workers: number
  /** Infinity: the queue grows. */
  readonly waitMs: number
}

/** Points of the picture at most. */
const mostPoints = 48

/** Enough workers on both sides of what matters, with a wait for each; empty when nothing can be said. */
export function waitCurve(inputs: CapacityInputs, marks: readonly (number | null)[]): CurvePoint[] {
  const most = Math.max(4, ...marks.map((mark) => Math.ceil((mark ?? 0) * 1.5) + 1))
  const step = Math.max(1, Math.ceil(most / mostPoints))
  const counts = new Set([
    ...Array.from({ length: Math.floor(most / step) }, (_, i) => (i + 1) * step),
    ...marks.flatMap((mark) => (mark === null || mark < 1 ? [] : [mark]))
  ])
  const points = [...counts]
    .sort((a, b) => a - b)
    .map((workers) => ({ workers, waitMs: waitOf({ ...inputs, workers }) }))
  return points.some(({ waitMs }) => waitMs === null) ? [] : points.map((one) => ({ ...one, waitMs: one.waitMs ?? 0 }))
}

/** Whole decades around what is drawn, ms: at least two of them, so that a flat line is not a mountain. */
export function waitScale(points: readonly CurvePoint[], targetMs: number): readonly [low: number, high: number] {
  const waits = [...points.map(({ waitMs }) => waitMs).filter((ms) => Number.isFinite(ms)), targetMs]
  const low = Math.floor(Math.log10(Math.max(1, Math.min(...waits))))
  const high = Math.max(low + 2, Math.ceil(Math.log10(Math.max(1, ...waits))))
  return [10 ** low, 10 ** high]
}
