import type { AlertRuleDraft, AlertSignal, Firing, Incident, RulePreview } from '@contract'

const minute = 60_000

/** What a figure is on an ordinary day, and how far it wobbles. */
const usual: Record<AlertSignal, readonly [base: number, wobble: number]> = {
  oldestMs: [21_000, 9_000],
  failureRate: [0.014, 0.009],
  recoveredRise: [0, 1],
  workersSilent: [0, 0],
  poolUse: [0.6, 0.12],
  databaseUse: [0.27, 0.05],
  claimP95: [51, 14],
  progressStopped: [0, 0],
  growth: [6, 14],
  schedulesLate: [0, 0],
  blindMs: [2_000, 900]
}

const noise = (at: number, seed: number): number => {
  const x = Math.sin(at / 171_000 + seed * 12.9898) * 43_758.5453
  return (x - Math.floor(x)) * 2 - 1
}

/** One figure over time: the usual, and what the incidents say. Null before the app has watched. */
export function signalAt(
  question: Pick<AlertRuleDraft, 'signal' | 'type'>,
  at: number,
  scene: { readonly firings: readonly Firing[]; readonly knownSince: number }
): number | null {
  if (at < scene.knownSince) return null
  const [base, wobble] = usual[question.signal]
  const seed = question.signal.length + question.type.length
  const hill = noise(at, seed) > 0.985 ? 3.2 : 1
  const plain = Math.max(0, base + wobble * noise(at, seed + 7) + base * 0.3 * Math.sin(at / (90 * minute))) * hill
  const firing = scene.firings.find(
    (one) =>
      one.signal === question.signal &&
      (one.type === question.type || question.type === '') &&
      at >= one.since &&
      (one.resolvedAt === null || at < one.resolvedAt)
  )
  if (!firing) return plain
  const grown = Math.min(1, 0.72 + (at - firing.since) / (20 * minute))
  return Math.max(firing.above * 1.05, firing.peak * grown * (1 + 0.06 * noise(at, seed)))
}

/** When a rule would have fired over these values, as the app's rules do. */
export function firingsOf(
  rule: Pick<AlertRuleDraft, 'above' | 'clearAt' | 'forMs' | 'clearForMs'>,
  times: readonly number[],
  values: readonly (number | null)[]
): RulePreview['firings'] {
  const found: { since: number; firedAt: number; until: number | null; peak: number }[] = []
  let since: number | null = null
  let calmSince: number | null = null
  let peak = 0
  let firing = false
  times.forEach((at, i) => {
    const value = values[i] ?? null
    if (value === null) return
    if (value > rule.above) {
      since ??= at
      calmSince = null
      peak = Math.max(peak, value)
    } else if (!firing) {
      since = null
      peak = 0
    } else if (value <= rule.clearAt) calmSince ??= at
    if (!firing && since !== null && at - since >= rule.forMs) {
      firing = true
      found.push({ since, firedAt: at, until: null, peak })
    }
    const last = found.at(-1)
    if (firing && last) {
      last.peak = peak
      if (calmSince !== null && at - calmSince >= rule.clearForMs) {
        last.until = at
        firing = false
        since = calmSince = null
        peak = 0
      }
    }
  })
  return found
}

/** Firings of one cause as the app would group them. */
export function incidentOf(
  id: string,
  connectionId: string,
  firings: readonly Firing[],
  acknowledged: Incident['acknowledged'] = null
): Incident {
  const open = firings.some((one) => one.resolvedAt === null)
  return {
    id,
    connectionId,
    openedAt: Math.min(...firings.map((one) => one.since)),
    resolvedAt: open ? null : Math.max(...firings.map((one) => one.resolvedAt ?? 0)),
    acknowledged,
    firings: [...firings]
  }
}
