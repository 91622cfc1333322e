import {
  firingSince,
  isAbout,
  isHeldBack,
  isQuiet,
  isSilenced,
  limitsBy,
  numbersOf,
  queueTrouble,
  silenceMs,
  type AlertSignal,
  type AlertState,
  type ConnectionView,
  type Environment,
  type LinkState,
  type ProbeName,
  type Problem,
  type QueueReading,
  type QueueTrouble
} from '@contract'
import { boundedDepth, type Bounded } from '@/shared/figures/bounded.ts'
import type { HealthKind } from '@/shared/ui/Health.vue'

/** What is worst about a connection; `fleet.cause.KIND` in the i18n files. Rates are fractions, ages ms. */
export type FleetCause =
  | { readonly kind: 'lost'; readonly since: number | null; readonly problem: Problem }
  | QueueTrouble
  | {
      readonly kind: 'alert'
      readonly signal: AlertSignal
      readonly type: string
      readonly value: number
      readonly since: number
      readonly isEnding: boolean
    }
  | { readonly kind: 'late'; readonly ageMs: number }
  | { readonly kind: 'silent'; readonly worker: string; readonly silentMs: number; readonly others: number }
  | { readonly kind: 'locked' }
  | { readonly kind: 'schema' }
  | { readonly kind: 'connecting' }
  | { readonly kind: 'gone' }
  | { readonly kind: 'quiet' }
  | { readonly kind: 'well' }

/** `bad`: somebody has to act. `look`: somebody should look. `unknown`: it cannot be told yet. */
export type FleetGrade = 'bad' | 'look' | 'unknown' | 'well'

/** One connection as the fleet shows it. null is unknown. */
export interface FleetRow {
  readonly id: string
  readonly name: string
  readonly environment: Environment
  readonly readOnly: boolean
  readonly grade: FleetGrade
  readonly health: HealthKind
  readonly cause: FleetCause
  /** Rules that fire; null while the alerts of the connection are not known. */
  readonly firing: number | null
  /** Nothing fires that nobody has acknowledged. */
  readonly acknowledged: boolean
  readonly depth: Bounded
  readonly oldestMs: number | null
  readonly oldestHigh: boolean
  readonly failureRate: number | null
  readonly failureHigh: boolean
  readonly alive: number | null
  readonly known: number | null
  readonly in1m: number | null
  readonly out1m: number | null
  /** When its newest known reading was made; null when there never was one. */
  readonly readAt: number | null
  /** The numbers are an old picture. */
  readonly stale: boolean
}

export interface FleetInput {
  readonly connection: ConnectionView
  readonly reading: QueueReading | null
  readonly alerts: AlertState | undefined
  readonly now: number
  /** False while the app itself does not answer: nothing is known of now then. */
  readonly appAnswers: boolean
}

export function fleetRow({ connection, reading, alerts, now, appAnswers }: FleetInput): FleetRow {
  const { link } = connection
  const numbers = reading && numbersOf(reading)
  const limitsOf = limitsBy(alerts?.rules)
  const trouble = reading && queueTrouble(reading, limitsOf)
  /** What the cost guard held back is unknown, not zero. */
  const told = <T>(probe: ProbeName, value: T | undefined): T | null =>
    reading === null || value === undefined || isHeldBack(reading, probe) ? null : value
  const firing = firingRules(alerts, reading?.at ?? now)
  const cause = appAnswers ? causeOf({ link, reading, trouble, firing, now }) : ({ kind: 'gone' } as const)
  const open = alerts?.open ?? []
  const acknowledged = firing.length > 0 && open.length > 0 && open.every((one) => one.acknowledged !== null)
  const grade = gradeOf(cause, acknowledged || (cause === trouble && isHushed(alerts, trouble)))
  return {
    id: connection.id,
    name: connection.name,
    environment: connection.environment,
    readOnly: connection.accessMode === 'read-only',
    grade,
    health: cause.kind === 'lost' ? 'lost' : marks[grade],
    cause,
    firing: alerts ? firing.length : null,
    acknowledged,
    depth: reading ? boundedDepth(reading) : { value: null, accuracy: 'exact' },
    oldestMs: numbers?.oldest?.ageMs ?? null,
    oldestHigh: (numbers?.oldest?.ageMs ?? 0) > limitsOf('').oldestMs,
    failureRate: numbers?.failureRate ?? null,
    failureHigh: (numbers?.failureRate ?? 0) > limitsOf('').failureRate,
    alive: told('workers', numbers?.alive.length),
    known: told('workers', numbers?.known.length),
    in1m: told('submitted', numbers?.in1m),
    out1m: told('finished', numbers?.out1m),
    readAt: reading?.at ?? null,
    stale: !appAnswers || link.status !== 'live' || now - link.lastReadingAt > silenceMs
  }
}

const marks: Record<FleetGrade, HealthKind> = { bad: 'look', look: 'look', unknown: 'unknown', well: 'ok' }

interface FiringRule {
  readonly signal: AlertSignal
  readonly type: string
  readonly value: number
  readonly since: number
  /** Its value is below the threshold again. */
  readonly isEnding: boolean
}

/** The longest firing first, without what is silenced. */
function firingRules(alerts: AlertState | undefined, at: number): FiringRule[] {
  return (alerts?.open ?? [])
    .flatMap((incident) => incident.firings)
    .filter((one) => one.firedAt !== null && one.resolvedAt === null && !isSilenced(alerts?.rules ?? [], one))
    .map((one) => ({
      ...{ signal: one.signal, type: one.type, value: one.value, since: firingSince(one, at) },
      isEnding: one.value <= one.above
    }))
    .sort((a, b) => a.since - b.since)
}

/** Somebody has silenced the rule about it. */
const isHushed = (alerts: AlertState | undefined, trouble: QueueTrouble | null): boolean =>
  trouble !== null &&
  (alerts?.rules.some(({ rule, silencedUntil }) => silencedUntil !== null && isAbout(trouble, rule)) ?? false)

function causeOf(of: {
  readonly link: LinkState
  readonly reading: QueueReading | null
  readonly trouble: QueueTrouble | null
  readonly firing: readonly FiringRule[]
  readonly now: number
}): FleetCause {
  const { link, reading, trouble, firing, now } = of
  if (link.status === 'lost') return { kind: 'lost', since: link.since, problem: link.problem }
  if (link.status === 'locked' || link.status === 'schema') return { kind: link.status }
  if (link.status === 'connecting' || !reading) return { kind: 'connecting' }
  // What the Overview would say of it.
  if (trouble && trouble.kind !== 'retrying') return trouble
  const [first] = firing
  if (first) return { kind: 'alert', ...first }
  if (now - link.lastReadingAt > silenceMs) return { kind: 'late', ageMs: now - link.lastReadingAt }
  const numbers = numbersOf(reading)
  const [silent] = numbers.silent
  if (silent) {
    const silentMs = reading.at - silent.lastHeartbeatAt
    return { kind: 'silent', worker: silent.id, silentMs, others: numbers.silent.length - 1 }
  }
  if (trouble) return trouble
  return { kind: isQuiet(reading, numbers) ? 'quiet' : 'well' }
}

const causeGrades: Record<FleetCause['kind'], FleetGrade> = {
  lost: 'bad',
  noWorkers: 'bad',
  failing: 'bad',
  retrying: 'look',
  oldest: 'bad',
  alert: 'bad',
  late: 'look',
  silent: 'look',
  locked: 'look',
  schema: 'look',
  connecting: 'unknown',
  gone: 'unknown',
  quiet: 'well',
  well: 'well'
}

/** What somebody has acknowledged or silenced is in hands: it stays worth a look. */
function gradeOf(cause: FleetCause, isInHands: boolean): FleetGrade {
  const grade = causeGrades[cause.kind]
  return grade === 'bad' && isInHands && cause.kind !== 'lost' ? 'look' : grade
}

const gradeOrder: readonly FleetGrade[] = ['bad', 'look', 'unknown', 'well']
const environmentOrder: readonly Environment[] = ['production', 'staging', 'development', 'local']
const causeOrder: readonly FleetCause['kind'][] = [
  'lost',
  'noWorkers',
  'failing',
  'oldest',
  'alert',
  'late',
  'silent',
  'retrying',
  'locked',
  'schema',
  'gone',
  'connecting',
  'well',
  'quiet'
]

/**
 * Worst first, production before the rest, and what has lasted long enough to fire before what may pass. Numbers are no part of it: rows would
 * change places with every reading.
 */
export function worstFirst(rows: readonly FleetRow[]): FleetRow[] {
  const lasts = ({ firing, cause }: FleetRow): boolean => (firing ?? 0) > 0 || cause.kind === 'lost'
  const rank = (row: FleetRow): number =>
    gradeOrder.indexOf(row.grade) * 1_000 +
    environmentOrder.indexOf(row.environment) * 100 +
    (lasts(row) ? 0 : 50) +
    causeOrder.indexOf(row.cause.kind)
  return [...rows].sort((a, b) => rank(a) - rank(b) || a.name.localeCompare(b.name, 'en', { numeric: true }))
}
