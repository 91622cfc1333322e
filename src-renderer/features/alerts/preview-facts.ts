import type { RulePreview } from '@contract'

export interface PreviewFacts {
  readonly fired: number
  readonly totalMs: number
  readonly longestMs: number
  /** How much of the time has figures. */
  readonly knownMs: number
}

/** What a preview says in numbers. One that still fires counts up to the end. */
export function previewFacts({ from, to, values, firings, times }: RulePreview): PreviewFacts {
  const lengths = firings.map((one) => (one.until ?? to) - one.firedAt)
  const known = values.filter((value) => value !== null).length / Math.max(1, times.length)
  return {
    fired: firings.length,
    totalMs: lengths.reduce((sum, ms) => sum + ms, 0),
    longestMs: Math.max(0, ...lengths),
    knownMs: known * (to - from)
  }
}
