/** Since when the newest known values have been above `limit`; null when the newest is not, or nothing is known. */
export function aboveSince(times: readonly number[], values: readonly (number | null)[], limit: number): number | null {
  let since: number | null = null
  for (let i = values.length - 1; i >= 0; i--) {
    const value = values[i] ?? null
    if (value === null) continue
    if (value <= limit) return since
    since = times[i] ?? since
  }
  return since
}
