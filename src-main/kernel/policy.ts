import { z } from 'zod'
import { retryChoice, taskLimits } from './task.ts'

/**
 * What an operator sets for the whole queue, a type or an owner. It takes effect with each worker's next poll, without a restart.
 * The name `*` says, for each type or owner, what its own policy leaves at null; the whole queue's name is ''. Tasks without an owner are nobody's: nothing of
 * OWNER bounds them. DELAYS are retry delays with a name, which tasks and the other policies may name instead of delays of their own.
 */
export const policyScope = z.enum(['QUEUE', 'TYPE', 'OWNER', 'DELAYS'])
export type PolicyScope = z.infer<typeof policyScope>

/** The least that may be set; ms where the name says so. */
export const leastOfPolicy = {
  rateCount: 1,
  ratePeriodMs: 1,
  maxAttempts: 1,
  retriesPerMinute: 1,
  timeoutMs: 1,
  leaseMs: 1_000
} as const

const limit = z.int().min(0).max(4_294_967_295).nullable().default(null)

/** Null everywhere: not set. What a task itself names (attempts, retry policy, timeout) wins over its type's policy, that over the queue's. */
export const policy = z
  .strictObject({
    scope: policyScope,
    name: z.string().max(taskLimits.typeLength),
    /** False: nothing of it is claimed; what runs goes on. True: also while `*` is not enabled. What nobody says is enabled. */
    enabled: z.boolean().nullable().default(null),
    /** Leased tasks at once, over all workers; exact. Of `*`: for each type or owner by itself. 0 claims nothing. */
    maxRunning: limit,
    /** Quota: tasks that have not ended, the running ones included. A submission beyond it is refused with QUOTA_EXCEEDED. */
    maxUnfinished: limit,
    /** TYPE only: at most `count` claims in any `periodMs`, after a burst of up to `count`. */
    rate: z
      .object({
        count: z.int().min(leastOfPolicy.rateCount).max(1_000_000),
        periodMs: z.int().min(leastOfPolicy.ratePeriodMs).max(86_400_000)
      })
      .nullable()
      .default(null),
    // TYPE, and QUEUE as the default of all types
    maxAttempts: z.int().min(leastOfPolicy.maxAttempts).max(1000).nullable().default(null),
    /** Of DELAYS: what the name stands for. */
    retryPolicy: retryChoice.nullable().default(null),
    /** TYPE only: retries come back at this pace at most, those beyond it wait longer: a wave of failures does not come back as one. */
    retriesPerMinute: z.int().min(leastOfPolicy.retriesPerMinute).max(1_000_000).nullable().default(null),
    timeoutMs: z.int().min(leastOfPolicy.timeoutMs).max(4_294_967_295).nullable().default(null),
    leaseMs: z.int().min(leastOfPolicy.leaseMs).max(3_600_000).nullable().default(null),
    /** Owners take turns within a priority instead of longest due first. */
    fair: z.boolean().nullable().default(null)
  })
  .superRefine((value, context) => {
    const refuse = (message: string): void => context.addIssue({ code: 'custom', message })
    if ((value.scope === 'QUEUE') !== (value.name === ''))
      refuse('only the policy of the whole QUEUE has an empty name')
    // MySQL's collation does not tell such a name from the same without the spaces, and ' ' not from ''.
    if (value.name.endsWith(' ')) refuse('a name does not end with a space')
    if (value.scope !== 'TYPE' && value.rate) refuse('a rate is for a TYPE')
    if (value.scope !== 'TYPE' && value.retriesPerMinute) refuse('a retry budget is for a TYPE')
    const forTypes = [value.maxAttempts, value.retryPolicy, value.timeoutMs, value.leaseMs, value.fair]
    if (value.scope === 'OWNER' && forTypes.some((one) => one !== null))
      refuse('attempts, retries, timeout, lease and fairness are set for a TYPE or the QUEUE, not for an OWNER')
    if (value.scope !== 'DELAYS') return
    const { scope: _scope, name, retryPolicy, ...others } = value
    if (retryPolicy === null || retryPolicy.kind === 'named')
      refuse('DELAYS have a retryPolicy that is a list or exponential')
    if (Object.values(others).some((one) => one !== null)) refuse('DELAYS have nothing but a retryPolicy')
    if (name === '*') refuse('no DELAYS are named *')
  })
export type Policy = z.infer<typeof policy>
export type PolicyInput = z.input<typeof policy>
