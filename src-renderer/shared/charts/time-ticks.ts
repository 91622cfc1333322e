const [second, minute, hour, day] = [1_000, 60_000, 3_600_000, 86_400_000]

/** Distances of two labels: each is a whole part of the next larger unit, so that labels are round. */
const steps = [
  ...[1, 5, 10, 15, 30].map((n) => n * second),
  ...[1, 2, 5, 10, 15, 30].map((n) => n * minute),
  ...[1, 2, 4, 6, 12].map((n) => n * hour),
  ...[1, 2, 5, 10, 15, 30].map((n) => n * day)
]
const mostLabels = 6
/** A label nearer to an edge than this part of the axis would be cut. */
const edge = 0.03

/**
 * Where a time axis has its labels, UTC. ECharts' own give way to the first moment of a day: an hour around midnight would have that one label.
 */
export function timeTicks(from: number, to: number): number[] {
  const span = to - from
  const step = steps.find((one) => span / one <= mostLabels) ?? Math.ceil(span / mostLabels / day) * day
  const ticks: number[] = []
  const until = to - edge * span
  for (let at = Math.ceil((from + edge * span) / step) * step; at <= until; at += step) ticks.push(at)
  return ticks
}
