import { defaultRetryPolicy, type Policy, type RetryChoice, type RetryPolicy } from '../kernel/index.ts'
import { delaysAmong, resolveChoice, type NamedDelays } from './named-delays.ts'

/** Attempts of a task for which neither it nor a policy says how many. */
const defaultMaxAttempts = 5

/** What holds for all tasks of one type. Null: no such limit, or left to the worker (lease, timeout). */
export interface TypePolicy extends Pick<
  Policy,
  'maxRunning' | 'maxUnfinished' | 'rate' | 'retriesPerMinute' | 'timeoutMs' | 'leaseMs'
> {
  readonly enabled: boolean
  readonly maxAttempts: number
  readonly retryPolicy: RetryPolicy
  readonly fair: boolean
}

/** What holds for one owner, over all types; and for the whole queue. */
export interface ScopeLimits extends Pick<Policy, 'maxRunning' | 'maxUnfinished'> {
  readonly enabled: boolean
}

/** What a task itself says; null leaves it to the policies. */
export interface OwnTerms {
  readonly maxAttempts: number | null
  readonly retryPolicy: RetryChoice | null
  readonly timeoutMs: number | null
}

export interface TaskTerms {
  readonly maxAttempts: number
  readonly retryPolicy: RetryPolicy
  readonly timeoutMs: number | null
}

const keyOf = (scope: Policy['scope'], name: string): string => `${scope} ${name}`
const open: ScopeLimits = { enabled: true, maxRunning: null, maxUnfinished: null }

/** What the one leaves open is what the others say. */
const limitsOf = (own: Policy | undefined, others?: Policy): ScopeLimits => ({
  enabled: own?.enabled ?? others?.enabled ?? open.enabled,
  maxRunning: own?.maxRunning ?? others?.maxRunning ?? open.maxRunning,
  maxUnfinished: own?.maxUnfinished ?? others?.maxUnfinished ?? open.maxUnfinished
})

/**
 * The policies that are set, and what follows from them. Each value by itself: what the type's or owner's own policy leaves at null
 * is what `*` says; attempts, retries, timeout, lease and fairness then are what the queue says. Who names retry delays that are not there (any
 * more) leaves them open.
 */
export class EffectivePolicies {
  /** Nothing is set. */
  static readonly none = new EffectivePolicies([])
  /** Of the whole queue. */
  readonly queue: ScopeLimits
  /** Whether some owner may hold fewer tasks than all its due ones: then a claim looks at owners one by one. */
  readonly limitsOwners: boolean
  readonly delays: NamedDelays
  private readonly byKey: ReadonlyMap<string, Policy>
  private readonly types = new Map<string, TypePolicy>()

  constructor(policies: readonly Policy[]) {
    this.byKey = new Map(policies.map((policy) => [keyOf(policy.scope, policy.name), policy]))
    this.delays = delaysAmong(policies)
    this.queue = limitsOf(this.byKey.get(keyOf('QUEUE', '')))
    const limiting = (policy: Policy): boolean => policy.enabled === false || policy.maxRunning !== null
    this.limitsOwners = policies.some((policy) => policy.scope === 'OWNER' && limiting(policy))
  }

  /** Whether a claim of tasks of these types, all of them enabled, has something to check or to share out. */
  limitsClaim(types: readonly string[]): boolean {
    if (this.queue.maxRunning !== null || this.limitsOwners) return true
    return types
      .map((type) => this.ofType(type))
      .some(({ maxRunning, rate, fair }) => maxRunning !== null || rate !== null || fair)
  }

  ofType(type: string): TypePolicy {
    const known = this.types.get(type)
    if (known) return known
    const made = this.resolveType(type)
    this.types.set(type, made)
    return made
  }

  /** Tasks without an owner are nobody's: nothing of OWNER bounds them. */
  ofOwner(owner: string): ScopeLimits {
    if (owner === '') return open
    return limitsOf(this.byKey.get(keyOf('OWNER', owner)), this.byKey.get(keyOf('OWNER', '*')))
  }

  /** What the task says, else what holds for its type. */
  ofTask(type: string, own: OwnTerms): TaskTerms {
    const policy = this.ofType(type)
    return {
      maxAttempts: own.maxAttempts ?? policy.maxAttempts,
      retryPolicy: resolveChoice(own.retryPolicy, this.delays) ?? policy.retryPolicy,
      timeoutMs: own.timeoutMs ?? policy.timeoutMs
    }
  }

  private resolveType(type: string): TypePolicy {
    const own = this.byKey.get(keyOf('TYPE', type))
    const others = this.byKey.get(keyOf('TYPE', '*'))
    const queue = this.byKey.get(keyOf('QUEUE', ''))
    const first = <K extends keyof Policy>(field: K): Policy[K] | null =>
      own?.[field] ?? others?.[field] ?? queue?.[field] ?? null
    return {
      // The queue's own limits are for all types together, not for each.
      ...limitsOf(own, others),
      rate: own?.rate ?? others?.rate ?? null,
      retriesPerMinute: own?.retriesPerMinute ?? others?.retriesPerMinute ?? null,
      maxAttempts: first('maxAttempts') ?? defaultMaxAttempts,
      retryPolicy: this.firstDelays([own, others, queue]) ?? defaultRetryPolicy,
      timeoutMs: first('timeoutMs'),
      leaseMs: first('leaseMs'),
      fair: first('fair') ?? false
    }
  }

  private firstDelays(policies: readonly (Policy | undefined)[]): RetryPolicy | undefined {
    return policies.flatMap((policy) => resolveChoice(policy?.retryPolicy, this.delays) ?? [])[0]
  }
}
