import { AppError, type Policy, type RetryChoice, type RetryPolicy } from '../kernel/index.ts'

/*
 * Retry delays with a name of their own: policies of the scope DELAYS. Tasks and other policies name them, so one change is a change for all
 * of them. What is named is looked up each time that policies are read.
 */

/** What each name stands for. */
export type NamedDelays = ReadonlyMap<string, RetryPolicy>

/** By their names. One that is itself a name, which another program may write, is none: names do not lead on to names. */
export function delaysAmong(policies: readonly Policy[]): NamedDelays {
  const found = new Map<string, RetryPolicy>()
  for (const { scope, name, retryPolicy } of policies)
    if (scope === 'DELAYS' && retryPolicy && retryPolicy.kind !== 'named') found.set(name, retryPolicy)
  return found
}

/** What a task or policy says, looked up; null: nothing, or a name that is not there (any more). */
export function resolveChoice(choice: RetryChoice | null | undefined, delays: NamedDelays): RetryPolicy | null {
  if (choice?.kind !== 'named') return choice ?? null
  return delays.get(choice.name) ?? null
}

export const isNamed = (choice: RetryChoice | null): boolean => choice?.kind === 'named'

/** Why nothing may begin to name these; undefined when they are there, or none are named. */
export function unknownDelays(choice: RetryChoice | null, delays: NamedDelays): string | undefined {
  if (choice?.kind !== 'named' || delays.has(choice.name)) return undefined
  const there =
    delays.size === 0
      ? 'there are none yet: set a policy of the scope DELAYS first'
      : `there are ${listed([...delays.keys()])}`
  return `no retry delays are named "${choice.name}"; ${there}`
}

/** Throws INVALID_INPUT for the name of delays that are not there; `what` begins the sentence. */
export function requireKnownDelays(what: string, choice: RetryChoice | null, delays: NamedDelays): void {
  const reason = unknownDelays(choice, delays)
  if (reason !== undefined) throw new AppError('INVALID_INPUT', 'user', `${what}: ${reason}`)
}

/** Throws INVALID_INPUT when a policy, or the task of one of these schedules, names delays that are there: it would go on with others, or not at all. */
export function requireUnused(name: string, policies: readonly Policy[], schedules: readonly string[]): void {
  if (!policies.some((policy) => policy.scope === 'DELAYS' && policy.name === name)) return
  const naming = policies
    .filter(
      ({ scope, retryPolicy }) => scope !== 'DELAYS' && retryPolicy?.kind === 'named' && retryPolicy.name === name
    )
    .map((policy) =>
      policy.scope === 'QUEUE' ? 'the policy of the QUEUE' : `the policy of ${policy.scope} ${policy.name}`
    )
  const users = [...naming, ...schedules.map((schedule) => `the schedule ${schedule}`)]
  if (users.length === 0) return
  const message = `The retry delays "${name}" cannot be removed, for they are named by ${listed(users)}. Change that first.`
  throw new AppError('INVALID_INPUT', 'user', message, { details: { users: users.length } })
}

const mostListed = 20

function listed(names: readonly string[]): string {
  const more = names.length > mostListed ? ` and ${names.length - mostListed} more` : ''
  return `${names.slice(0, mostListed).join(', ')}${more}`
}
