import { AppError, type NewTask, type PolicyScope } from '../kernel/index.ts'

/** What has tasks; delays have none. */
export type QuotaScope = Exclude<PolicyScope, 'DELAYS'>

/** A policy's `max_unfinished`. */
export interface StoredQuota {
  readonly scope: QuotaScope
  readonly name: string
  readonly limit: number
  /** When the policy was set: room that was counted for another one is counted again. */
  readonly setAt: string
}

/** How many of the tasks of one call a quota concerns. */
export interface QuotaDemand extends StoredQuota {
  readonly wanted: number
}

/** Without a quota of its own a type or an owner has that of `*`. Tasks without an owner are nobody's: only QUEUE and TYPE bound them. */
export function quotaDemands(
  stored: readonly StoredQuota[],
  tasks: readonly Pick<NewTask, 'type' | 'owner'>[]
): QuotaDemand[] {
  const known = new Map(stored.map((quota) => [keyOf(quota), quota]))
  const demands = new Map<string, QuotaDemand>()
  const add = (scope: QuotaScope, name: string): void => {
    const quota = known.get(keyOf({ scope, name })) ?? known.get(keyOf({ scope, name: '*' }))
    if (!quota) return
    const key = keyOf({ scope, name })
    demands.set(key, { ...quota, name, wanted: (demands.get(key)?.wanted ?? 0) + 1 })
  }
  if (known.size > 0)
    for (const { type, owner } of tasks) {
      add('QUEUE', '')
      add('TYPE', type)
      if (owner !== '') add('OWNER', owner)
    }
  return [...demands.values()].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
}

/** Throws QUOTA_EXCEEDED unless `room` has place for what is wanted. */
export function requireRoom({ scope, name, limit, wanted }: QuotaDemand, room: number): void {
  if (wanted <= room) return
  const whose = { QUEUE: 'the whole queue', TYPE: `the type ${name}`, OWNER: `the owner ${name}` }[scope]
  throw new AppError(
    'QUOTA_EXCEEDED',
    'user',
    `The quota of ${whose} is ${limit} unfinished tasks: there is room for ${Math.max(0, room)}, and ${wanted} were submitted.`,
    { details: { scope, name, limit } }
  )
}

export const keyOf = ({ scope, name }: Pick<StoredQuota, 'scope' | 'name'>): string => `${scope} ${name}`
