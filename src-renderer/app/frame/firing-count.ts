import type { AlertRuleView, AlertState } from '@contract'

/** Rules that fire and that nobody has taken or silenced: what somebody has to look at. 0 while nothing is known. */
export function firingCount(state: AlertState | undefined): number {
  if (!state) return 0
  const taken = new Set(
    state.open.filter((one) => one.acknowledged).flatMap((one) => one.firings.map((it) => it.ruleId))
  )
  return state.rules.filter((view) => isFiring(view) && !taken.has(view.rule.id)).length
}

/** Something fires that is not silenced: not well, also when somebody has taken it. */
export const isFiringStill = (state: AlertState | undefined): boolean => state?.rules.some(isFiring) ?? false

const isFiring = ({ state, silencedUntil }: AlertRuleView): boolean => state === 'firing' && silencedUntil === null
