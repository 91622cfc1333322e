export type TimeSpan = readonly [from: number, to: number]
export type TimePoint = readonly [time: number, value: number | null]

/**
 * Time without readings: where every line is unknown, from the last known moment (or the first point) to the next. `until` is the end of the
 * picture (now): a last reading that is older than `patienceMs` leaves a gap up to it.
 */
export function gapsOf(lines: readonly (readonly TimePoint[])[], until: number, patienceMs: number): TimeSpan[] {
  const longest = lines.reduce<readonly TimePoint[]>((best, line) => (line.length > best.length ? line : best), [])
  const gaps: TimeSpan[] = []
  let lastKnown: number | null = null
  let open = false
  longest.forEach(([time], i) => {
    const known = lines.some((line) => (line[i]?.[1] ?? null) !== null)
    if (known) {
      const since = lastKnown ?? longest[0]?.[0] ?? time
      if (open && time > since) gaps.push([since, time])
      lastKnown = time
      open = false
    } else {
      open = true
    }
  })
  if (lastKnown !== null && until - lastKnown > patienceMs) gaps.push([lastKnown, until])
  return gaps
}
