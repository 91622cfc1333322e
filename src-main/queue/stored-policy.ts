import { defaultRetryPolicy, retryPolicy, type RetryPolicy } from '../kernel/index.ts'

/** Policies are few and repeat in every claim, so the parsed ones are remembered. */
const known = new Map<string, RetryPolicy>()
const mostKnown = 200

/** What someone else wrote into the column and is no policy counts as the default one: a task must not block a claim. */
export function storedRetryPolicy(text: string): RetryPolicy {
  const remembered = known.get(text)
  if (remembered) return remembered
  const parsed = retryPolicy.safeParse(parseJson(text))
  const policy = parsed.success ? parsed.data : defaultRetryPolicy
  if (known.size >= mostKnown) known.clear()
  known.set(text, policy)
  return policy
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
