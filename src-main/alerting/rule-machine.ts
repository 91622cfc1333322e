import { slowestReadingMs, type AlertRuleDraft } from '../kernel/index.ts'

/** What a rule's signal was when a reading was taken. */
export interface Sample {
  /** By the reading's clock, which may jump either way. */
  readonly at: number
  /** null: the reading could not tell. */
  readonly value: number | null
}

/** All that one rule remembers between two readings. Immutable. */
export interface RuleMemory {
  readonly phase: 'quiet' | 'pending' | 'firing'
  /** The newest sample, and the newest with a value. */
  readonly at: number | null
  readonly knownAt: number | null
  /** Between the last two samples with a value. */
  readonly spacingMs: number
  /** Of the newest sample with a value. */
  readonly lastValue: number
  /** First moment above the threshold, and the worst value since; meaningless while quiet. */
  readonly since: number
  readonly peak: number
  readonly firedAt: number | null
  /** Watched time above the threshold, while pending. */
  readonly aboveMs: number
  /** Watched time at or below `clearAt`, while firing; null when it is not there now. */
  readonly clearMs: number | null
  /** While firing: for how long readings have come that could not tell the value. */
  readonly unknownMs: number
}

export const quietMemory: RuleMemory = {
  phase: 'quiet',
  at: null,
  knownAt: null,
  spacingMs: 0,
  lastValue: 0,
  since: 0,
  peak: 0,
  firedAt: null,
  aboveMs: 0,
  clearMs: null,
  unknownMs: 0
}

/** How far apart samples may be for the time between them to count as watched. */
export interface Pace {
  /** Always counted. */
  readonly alwaysMs: number
  /** The sampler does not go slower by itself. */
  readonly slowestMs: number
}

/** Seven usual ticks, or three of the slowest. */
export const livePace: Pace = { alwaysMs: 15_000, slowestMs: slowestReadingMs }

const countedTicks = 3
/**
 * Time that nobody watched never counts. After a short pause (a restart of the app, some failed readings) counting goes on where it was;
 * after a longer one it begins anew.
 */
export const heldOverMs = 300_000
/**
 * A firing outlives everything that nobody saw, since what is not seen has not ended. But when readings come for so long without its
 * figure (no attempt ends any more, the type is gone), there is nothing left to wait for.
 */
export const unknownEndsMs = 1_800_000

export type RuleChange = 'fired' | 'resolved' | 'unknown'
export interface RuleStep {
  readonly memory: RuleMemory
  /** `unknown`: it ended because its figure is not there any more. */
  readonly change: RuleChange | null
}

type Settings = Pick<AlertRuleDraft, 'above' | 'clearAt' | 'forMs' | 'clearForMs'>

/**
 * quiet -> pending (above) -> firing after `forMs` above -> quiet after `clearForMs` at or below `clearAt`. Pure: the same samples
 * give the same steps, live and from history.
 */
export function ruleMachine(rule: Settings, pace: Pace = livePace): (memory: RuleMemory, sample: Sample) => RuleStep {
  return (memory, { at: readAt, value }) => {
    const at = steadied(readAt, memory, pace)
    if (value === null) return unknownStep(memory, at, pace)
    const known = knownStep(memory, { at, value, rule, pace })
    const spacingMs = at - (memory.knownAt ?? at)
    const common = { at, knownAt: at, lastValue: value, unknownMs: 0 }
    const next = { ...known.memory, ...common, spacingMs: spacingMs > 0 ? spacingMs : memory.spacingMs }
    return { memory: next, change: known.change }
  }
}

/** Two servers behind one name, or a slow reading: a small step back is no jump, and time stands still meanwhile. */
function steadied(at: number, memory: RuleMemory, pace: Pace): number {
  const newest = memory.at ?? at
  return at < newest && newest - at <= pace.alwaysMs ? newest : at
}

interface Known {
  readonly at: number
  readonly value: number
  readonly rule: Settings
  readonly pace: Pace
}

function knownStep(memory: RuleMemory, known: Known): RuleStep {
  if (memory.phase === 'firing') return firingStep(memory, known)
  const { at, value, rule } = known
  if (value <= rule.above) return { memory: ended(memory), change: null }
  const passedMs = watchedMs(memory, known)
  const goesOn = memory.phase === 'pending' && passedMs !== null
  const pending: RuleMemory = goesOn
    ? { ...memory, peak: Math.max(memory.peak, value), aboveMs: memory.aboveMs + passedMs }
    : { ...memory, phase: 'pending', since: at, peak: value, aboveMs: 0 }
  if (pending.aboveMs < rule.forMs) return { memory: pending, change: null }
  return { memory: { ...pending, phase: 'firing', firedAt: at, clearMs: null }, change: 'fired' }
}

function firingStep(memory: RuleMemory, known: Known): RuleStep {
  const { value, rule } = known
  const firing = { ...memory, peak: Math.max(memory.peak, value) }
  if (value > rule.clearAt) return { memory: { ...firing, clearMs: null }, change: null }
  const passedMs = watchedMs(memory, known)
  const clearMs = memory.clearMs === null || passedMs === null ? 0 : memory.clearMs + passedMs
  if (clearMs >= rule.clearForMs) return { memory: ended(firing), change: 'resolved' }
  return { memory: { ...firing, clearMs }, change: null }
}

function unknownStep(memory: RuleMemory, at: number, pace: Pace): RuleStep {
  const next = { ...memory, at }
  const silentMs = at - (memory.knownAt ?? at)
  if (memory.phase === 'pending' && (silentMs < 0 || silentMs > heldOverMs))
    return { memory: ended(next), change: null }
  if (memory.phase !== 'firing') return { memory: next, change: null }
  const passedMs = at - (memory.at ?? at)
  const watched = passedMs > 0 && passedMs <= countedTicks * pace.slowestMs ? passedMs : 0
  const unknownMs = memory.unknownMs + watched
  if (unknownMs >= unknownEndsMs) return { memory: ended(next), change: 'unknown' }
  return { memory: { ...next, unknownMs }, change: null }
}

/** Time since the last known value that counts; 0 over a short pause; null when it must begin anew (a long one, or the clock went back). */
function watchedMs(memory: RuleMemory, { at, pace }: Known): number | null {
  if (memory.knownAt === null) return null
  const passedMs = at - memory.knownAt
  const countedMs = Math.max(pace.alwaysMs, countedTicks * Math.min(memory.spacingMs, pace.slowestMs))
  if (passedMs >= 0 && passedMs <= countedMs) return passedMs
  return passedMs > 0 && passedMs <= heldOverMs ? 0 : null
}

function ended({ at, knownAt, spacingMs, lastValue }: RuleMemory): RuleMemory {
  return { ...quietMemory, at, knownAt, spacingMs, lastValue }
}

/** Older values say nothing about now. A figure that is only read now and then is not unknown in between. */
export const staleMs = 60_000

/** The signal now; null is unknown. */
export function valueNow({ at, knownAt, lastValue }: RuleMemory): number | null {
  return at !== null && knownAt !== null && at - knownAt < staleMs ? lastValue : null
}
