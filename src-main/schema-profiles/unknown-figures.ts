import type { ProbeLimit, ProbeName } from '../kernel/index.ts'
import { keepsSuccesses, knownEnds } from './compile-flow.ts'
import { isWaiting, type TableProfile } from './profile.ts'

/** Of a table that is not ours nothing is known of these. */
const never: readonly (readonly [ProbeName, string])[] = [
  ['retries', 'the table has tasks, and not each of their attempts'],
  ['durations', 'the table has tasks, and not each of their attempts'],
  ['workers', 'the table does not say which workers live'],
  ['schedules', 'the table has no schedules']
]

/** The figures that a table with this profile cannot give, each with the reason. */
export function unknownFigures(profile: TableProfile): ProbeLimit[] {
  const lacking = [...never, ...ofOldest(profile), ...ofSubmitted(profile), ...ofEnded(profile)]
  return lacking.map(([probe, why]) => ({ probe, reason: 'schema', index: null, why }))
}

function ofOldest({ states }: TableProfile): [ProbeName, string][] {
  const without = states.find(({ state, since }) => isWaiting(state) && since === undefined)
  if (!without) return []
  return [['oldest', `the profile does not say since when a task is "${without.name}"`]]
}

function ofSubmitted(profile: TableProfile): [ProbeName, string][] {
  if (profile.created === undefined) return [['submitted', 'the profile names no column "created"']]
  if (keepsSuccesses(profile)) return []
  return [['submitted', 'tasks that succeeded are not kept (no state of the profile is SUCCESS)']]
}

function ofEnded(profile: TableProfile): [ProbeName, string][] {
  if (knownEnds(profile).length > 0) return []
  const why = 'the profile has not both a SUCCESS and a FAILED state with "since"'
  return [
    ['finished', why],
    ['ended', why]
  ]
}
