import { z } from 'zod'
import {
  AppError,
  leastOfPolicy,
  policy,
  retryChoice,
  type Policy,
  type PolicyInput,
  type RetryChoice
} from '../kernel/index.ts'
import { isStorable } from './stored-text.ts'

/** Policies are few and repeat in every claim, so the parsed ones are remembered. */
const known = new Map<string, RetryChoice | null>()
const mostKnown = 200

/** All are read with every look for work. */
export const mostPolicies = 1_000

/** Null for an empty column: the task or policy leaves it to others. So does what someone else wrote there and is no policy: a task must not block a claim. */
export function retryPolicyOrNull(text: string | null): RetryChoice | null {
  if (text === null) return null
  const remembered = known.get(text)
  if (remembered !== undefined) return remembered
  const parsed = retryChoice.safeParse(parseJson(text))
  const found = parsed.success ? parsed.data : null
  if (known.size >= mostKnown) known.clear()
  known.set(text, found)
  return found
}

/** Another program may write less than can be set, a lease of 1 ms, say, that ends before it is renewed: that counts as not set. */
export const setOrNull = (value: number | null, least: keyof typeof leastOfPolicy): number | null =>
  value === null || value < leastOfPolicy[least] ? null : value

/** Both columns or none. */
export function storedRate(count: number | null, periodMs: number | null): Policy['rate'] {
  const rate = { count: setOrNull(count, 'rateCount'), periodMs: setOrNull(periodMs, 'ratePeriodMs') }
  return rate.count === null || rate.periodMs === null ? null : { count: rate.count, periodMs: rate.periodMs }
}

/** What a store may write. Throws INVALID_INPUT. */
export function validatePolicy(input: PolicyInput): Policy {
  const parsed = policy.safeParse(input)
  if (!parsed.success) throw invalidPolicy(z.prettifyError(parsed.error))
  if (!isStorable(parsed.data.name)) throw invalidPolicy('its name has a NUL or half a character')
  return parsed.data
}

export const tooManyPolicies = (): AppError => invalidPolicy(`there are ${mostPolicies} already`)

const invalidPolicy = (reason: string): AppError =>
  new AppError('INVALID_INPUT', 'user', `The policy cannot be set: ${reason}`)

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** How a column holds a choice that may be left open. */
export const bitOrNull = (value: boolean | null): number | null => (value === null ? null : value ? 1 : 0)
/** The way back. */
export const isSetOrNull = (value: number | null): boolean | null => (value === null ? null : value !== 0)
