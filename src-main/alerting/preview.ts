import { alertLimits, shareSignals, type AlertRuleDraft, type Firing, type MetricName } from '../kernel/index.ts'
import type { PreviewHistory, RulePreview } from './alerts-port.ts'
import { livePace, quietMemory, ruleMachine, type Pace, type RuleMemory, type Sample } from './rule-machine.ts'
import { riseWindowMs, signalValue } from './signals.ts'

/** Points of the curve: more than a chart has pixels say nothing. */
export const curvePoints = 1_000

type PreviewFiring = RulePreview['firings'][number]

/**
 * When a rule would have fired, by the machine that runs live. `recorded` are firings of a signal that history cannot tell (blindness: a gap may
 * as well be an app that did not run); their curve is unknown in the gaps.
 */
export function previewOf(rule: AlertRuleDraft, history: PreviewHistory, recorded: readonly Firing[]): RulePreview {
  const read = samplesOf(rule, history)
  const curve = { from: history.from, to: history.to, ...curveOf(read, history) }
  if (rule.signal === 'blindMs') return { ...curve, firings: recorded.map(recordedFiring), variants: [] }
  const pace = paceOf(history.stepMs)
  const samples = read.flatMap((sample) => (sample ? standing(sample, history.stepMs) : []))
  const firingsOf = (variant: AlertRuleDraft): PreviewFiring[] => replay(variant, samples, pace)
  const variants = variantsOf(rule).map((variant) => ({
    ...{ above: variant.above, forMs: variant.forMs },
    fired: firingsOf(variant).length
  }))
  return { ...curve, firings: firingsOf(rule), variants }
}

/** The firings of a rule over samples, oldest first. `until` null: it fires still. */
export function replay(rule: AlertRuleDraft, samples: readonly Sample[], pace: Pace = livePace): PreviewFiring[] {
  const step = ruleMachine(rule, pace)
  const firings: PreviewFiring[] = []
  let memory: RuleMemory = quietMemory
  for (const sample of samples) {
    const before = memory
    const { memory: after, change } = step(before, sample)
    memory = after
    const open = firings.at(-1)
    if (change === 'fired') {
      firings.push({ since: after.since, firedAt: after.firedAt ?? after.since, until: null, peak: after.peak })
    } else if (open && change !== null) open.until = Math.max(after.at ?? sample.at, open.firedAt)
    else if (open && after.phase === 'firing') open.peak = Math.max(open.peak, after.peak)
  }
  return firings
}

/** One for each time; null where nothing was read. */
function samplesOf({ signal, type }: AlertRuleDraft, history: PreviewHistory): (Sample | null)[] {
  const { times, series } = history
  const seriesOf = new Map(series.filter((of) => of.type === type).map(({ metric, values }) => [metric, values]))
  const isRead = (index: number): boolean => series.some(({ values }) => isNumber(values[index]))
  const earlier = earlierIndexes(times, history.stepMs)
  const whole = new Map(series.filter((of) => of.type === '').map(({ metric, values }) => [metric, values]))
  const at = (index: number | undefined) => (metric: MetricName) =>
    index === undefined ? undefined : (seriesOf.get(metric)?.[index] ?? zeroOf(whole.get(metric)?.[index]))
  return times.map((time, index) => {
    if (!isRead(index)) return null
    return { at: time, value: signalValue(signal, { now: at(index), earlier: at(earlier[index]) }) }
  })
}

/** Of nothing, a type has nothing: an idle type has series of its own only since there is a rule about it. */
const zeroOf = (whole: number | null | undefined): 0 | undefined => (whole === 0 ? 0 : undefined)

/** For each time the newest index that is `riseWindowMs` older, undefined where there is none near that. */
function earlierIndexes(times: readonly number[], stepMs: number): (number | undefined)[] {
  const slackMs = Math.max(stepMs, 3 * livePace.slowestMs)
  let next = 0
  return times.map((time) => {
    const wanted = time - riseWindowMs
    while ((times[next] ?? Infinity) <= wanted) next++
    const found = next - 1
    return found >= 0 && (times[found] ?? 0) >= wanted - slackMs ? found : undefined
  })
}

/**
 * A value that was made of many readings stands for all of its step, so it is seen at both ends: else a rule would need one step more than
 * live. Steps as long as ticks are taken as ticks.
 */
function standing(sample: Sample, stepMs: number): Sample[] {
  return stepMs <= livePace.slowestMs ? [sample] : [sample, { at: sample.at + stepMs, value: sample.value }]
}

const paceOf = (stepMs: number): Pace => ({
  alwaysMs: Math.max(livePace.alwaysMs, stepMs),
  slowestMs: Math.max(livePace.slowestMs, stepMs)
})

/** What a user would try next: half the threshold, half as much again, and a longer wait. */
function variantsOf(rule: AlertRuleDraft): AlertRuleDraft[] {
  const scaled = (factor: number): AlertRuleDraft => ({
    ...rule,
    above: rounded(rule.above * factor),
    clearAt: rounded(rule.clearAt * factor)
  })
  const isUseful = ({ above }: AlertRuleDraft): boolean => !shareSignals.includes(rule.signal) || above < 1
  const thresholds =
    rule.above > 0
      ? [scaled(1.5), scaled(0.5)]
      : [
          { ...rule, above: 1 },
          { ...rule, above: 2 }
        ]
  const longer = { ...rule, forMs: Math.min(alertLimits.forMs, rule.forMs > 0 ? Math.round(rule.forMs * 2.5) : 60_000) }
  return [...thresholds.filter(isUseful), longer]
}

const rounded = (value: number): number => Number(value.toPrecision(6))
const isNumber = (value: number | null | undefined): boolean => typeof value === 'number'

/** Neighbours become one, which keeps the highest: a peak that fired must be seen. */
function curveOf(
  read: readonly (Sample | null)[],
  { times, stepMs }: PreviewHistory
): Pick<RulePreview, 'times' | 'values' | 'stepMs'> {
  const joined = Math.max(1, Math.ceil(times.length / curvePoints))
  const values: (number | null)[] = []
  for (let first = 0; first < times.length; first += joined) {
    const known = read.slice(first, first + joined).flatMap((sample) => sample?.value ?? [])
    values.push(known.length === 0 ? null : Math.max(...known))
  }
  return { times: times.filter((_, index) => index % joined === 0), values, stepMs: stepMs * joined }
}

function recordedFiring({ since, firedAt, resolvedAt, peak }: Firing): PreviewFiring {
  return { since, firedAt: firedAt ?? since, until: resolvedAt, peak }
}
