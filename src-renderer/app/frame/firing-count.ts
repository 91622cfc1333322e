import type { AlertState } from '@contract'

/** Rules that fire and that nobody has taken or silenced: what somebody has to look at. 0 while nothing is known. */
export function firingCount(state: AlertState | undefined): number {
  if (!state) return 0
  const taken = new Set(
    state.open.filter((one) => one.acknowledged).flatMap((one) => one.firings.map((it) => it.ruleId))
  )
  return state.rules.filter(
    ({ rule, state: is, silencedUntil }) => is === 'firing' && silencedUntil === null && !taken.has(rule.id)
  ).length
}
