import { z } from 'zod'
import { environment } from '../../contract/index.ts'
import {
  accuracy,
  alertSignal,
  firingSince,
  isAbout,
  isSilenced,
  limitsBy,
  liveStates,
  metricName,
  metricNames,
  probeLimit,
  queueTrouble,
  taskState,
  type MetricName,
  type LimitsOf,
  type Point,
  type QueueReading,
  type QueueTrouble
} from '../../kernel/index.ts'
import { linkText } from './diary.ts'
import { leastAccurate } from './least-accurate.ts'
import { hasFigures, type SeenQueue } from './seen-queue.ts'
import { standing } from './standing.ts'

/** A figure over its threshold. Values have the unit of the signal: milliseconds, fractions, or a count. */
export const trouble = z.object({
  signal: alertSignal,
  /** '' is the whole queue. */
  type: z.string(),
  value: z.number(),
  above: z.number(),
  /** First moment above it, by the database's clock; null where only one reading is known. */
  since: z.number().nullable(),
  /** Somebody has silenced it: it does not make the verdict. */
  silenced: z.boolean()
})
export type Trouble = z.infer<typeof trouble>

/** Above its threshold, for less than its rule's time. */
export const pendingTrouble = trouble.extend({ forMs: z.number() })
export type PendingTrouble = z.infer<typeof pendingTrouble>

const rates = { type: z.string(), failureRate: z.number(), againRate: z.number() }
/** `QueueTrouble` as it crosses the socket. */
const namedTrouble = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('noWorkers'), waiting: z.number() }),
  z.object({ kind: z.literal('failing'), ...rates, againRate: z.number().nullable() }),
  z.object({ kind: z.literal('retrying'), ...rates }),
  // In a table that is not ours an id may be any text.
  z.object({ kind: z.literal('oldest'), type: z.string(), ageMs: z.number(), taskId: z.string() })
]) satisfies z.ZodType<QueueTrouble>

const depthRow = z.object({ state: taskState, count: z.number().nullable(), accuracy })

/** Types with rows of their own, the busiest first. */
export const typesPerReport = 100

/** What `taskdeck status` says of one connection. Times are milliseconds since the epoch; null is unknown. */
export const statusReport = z.object({
  /** Of this form. */
  format: z.literal(1),
  /** `app`: what the running app sees; `database`: the command looked by itself. */
  source: z.enum(['app', 'database']),
  /** Version of the one who looked. */
  taskdeck: z.string(),
  connection: z.object({ name: z.string(), environment: environment.nullable(), server: z.string().nullable() }),
  /** `warning`: no rule fires, and something is `named` or `pending`. */
  verdict: z.enum(['well', 'warning', 'trouble', 'unknown']),
  /** Why nothing can be told; null when it can. */
  unknown: z.string().nullable(),
  troubles: z.array(trouble),
  /** What the Overview's sentence says of the newest reading: the worst in it, with its type and task, whether a rule fires or not. */
  named: namedTrouble.nullable(),
  /** Of `standing` figures only: the others are above their thresholds every day. */
  pending: z.array(pendingTrouble),
  /** `rules`: the alert rules of the connection, as they fire now. `defaults`: one reading against the default thresholds. */
  judgedBy: z.enum(['rules', 'defaults']),
  /** The database's clock. */
  readingAt: z.number().nullable(),
  readingAgeMs: z.number().nullable(),
  /** Of the whole queue; states without tasks are left out. */
  depth: z.array(depthRow),
  figures: z.partialRecord(metricName, z.number().nullable()),
  types: z.array(
    z.object({
      type: z.string(),
      depth: z.array(depthRow),
      oldestMs: z.number().nullable(),
      failureRate: z.number().nullable(),
      /** A minute. */
      in1m: z.number().nullable(),
      out1m: z.number().nullable()
    })
  ),
  limits: z.array(probeLimit)
})
export type StatusReport = z.infer<typeof statusReport>

export interface Looked {
  readonly name: string
  readonly environment: z.infer<typeof environment> | null
  readonly server: string | null
  readonly reading: QueueReading
  readonly points: readonly Point[]
  readonly ageMs: number
  readonly troubles: readonly Trouble[]
  readonly pending: readonly PendingTrouble[]
  readonly limitsOf: LimitsOf
  readonly judgedBy: StatusReport['judgedBy']
}

type Origin = Pick<StatusReport, 'source' | 'taskdeck'>

/** What the app sees of one connection. */
export function reportOfSeen(
  queue: SeenQueue,
  taskdeck: string,
  judge: (points: readonly Point[]) => Trouble[]
): StatusReport {
  const { name, environment, server } = queue.view
  const origin = { source: 'app', taskdeck } as const
  if (!hasFigures(queue)) return reportOfNothing({ name, environment, server }, origin, whyUnknown(queue))
  const { reading, points } = queue.tick
  const byRules = queue.alerts !== undefined
  const looked: Looked = {
    ...{ name, environment, server, reading, points, ageMs: queue.ageMs },
    troubles: queue.alerts ? firingIn(queue.alerts, reading.at) : judge(points),
    pending: queue.alerts ? pendingIn(queue.alerts) : [],
    limitsOf: limitsBy(queue.alerts?.rules),
    judgedBy: byRules ? 'rules' : 'defaults'
  }
  return reportOf(looked, origin)
}

/** Of one reading, however it was got. */
export function reportOf(looked: Looked, origin: Origin): StatusReport {
  const { name, environment, server, reading, points, ageMs, troubles, pending, judgedBy } = looked
  const unknown = whatIsMissing(points, reading)
  const named = queueTrouble(reading, looked.limitsOf)
  const inTrouble = troubles.some(({ silenced }) => !silenced)
  const hasWarning = pending.some(({ silenced }) => !silenced) || isHeard(named, [...troubles, ...pending])
  return {
    format: 1,
    ...origin,
    connection: { name, environment, server },
    verdict: inTrouble ? 'trouble' : unknown !== null ? 'unknown' : hasWarning ? 'warning' : 'well',
    unknown: inTrouble ? null : unknown,
    troubles: [...troubles],
    named,
    pending: [...pending],
    judgedBy,
    readingAt: reading.at,
    readingAgeMs: ageMs,
    depth: depthOf(points, reading, ''),
    figures: figuresOf(points),
    types: typesOf(points).map((type) => ({
      type,
      depth: depthOf(points, reading, type),
      oldestMs: valueOf(points, 'oldestMs', type),
      failureRate: valueOf(points, 'failureRate', type),
      in1m: valueOf(points, 'in1m', type),
      out1m: valueOf(points, 'out1m', type)
    })),
    limits: reading.limits
  }
}

/** When there is no reading. */
export function reportOfNothing(connection: StatusReport['connection'], origin: Origin, unknown: string): StatusReport {
  return {
    format: 1,
    ...origin,
    connection,
    verdict: 'unknown',
    unknown,
    troubles: [],
    named: null,
    pending: [],
    judgedBy: 'defaults',
    readingAt: null,
    readingAgeMs: null,
    depth: [],
    figures: figuresOf([]),
    types: [],
    limits: []
  }
}

function whyUnknown({ view, ageMs }: SeenQueue): string {
  if (view.link.status !== 'live') return `The link is not up: ${linkText(view.link)}`
  return ageMs === null ? 'There is no reading yet.' : `The newest reading is ${Math.round(ageMs / 1_000)} s old.`
}

function firingIn({ open, rules }: NonNullable<SeenQueue['alerts']>, at: number): Trouble[] {
  return open
    .flatMap(({ firings }) => firings)
    .filter(({ firedAt, resolvedAt }) => firedAt !== null && resolvedAt === null)
    .map((one) => ({
      ...{ signal: one.signal, type: one.type, value: one.value, above: one.above },
      ...{ since: firingSince(one, at), silenced: isSilenced(rules, one) }
    }))
}

function pendingIn({ rules }: NonNullable<SeenQueue['alerts']>): PendingTrouble[] {
  return rules.flatMap(({ rule: { signal, type, above, forMs }, state, since, value, silencedUntil }) =>
    state !== 'pending' || value === null || !standing.includes(signal)
      ? []
      : [{ signal, type, value, above, since, silenced: silencedUntil !== null, forMs }]
  )
}

/** Somebody who silenced the rule about it has seen it. */
const isHeard = (named: QueueTrouble | null, rules: readonly Trouble[]): boolean =>
  named !== null && !rules.some((rule) => rule.silenced && isAbout(named, rule))

/** Without these nobody can say that all is well. */
const needed: readonly MetricName[] = ['depth', 'oldestMs', 'workersAlive']

function whatIsMissing(points: readonly Point[], { limits }: QueueReading): string | null {
  // No table that is not ours says which workers live: that cannot be waited for.
  const saysWorkers = !limits.some(({ probe, reason }) => probe === 'workers' && reason === 'schema')
  const missing = needed.filter(
    (metric) => (metric !== 'workersAlive' || saysWorkers) && valueOf(points, metric, '') === null
  )
  if (missing.length === 0) return null
  const held = limits.filter(({ probe, reason }) => reason !== 'schema' || probe === 'oldest')
  const why = held.map(({ probe, reason }) => `${probe} (${reason})`).join(', ')
  return `Not known: ${missing.join(', ')}.${why === '' ? '' : ` Held back: ${why}.`}`
}

const valueOf = (points: readonly Point[], metric: MetricName, type: string): number | null =>
  points.find((point) => point.metric === metric && point.type === type)?.value ?? null

function figuresOf(points: readonly Point[]): StatusReport['figures'] {
  const names = metricNames.filter((name) => !name.startsWith('depth.'))
  return Object.fromEntries(names.map((name) => [name, valueOf(points, name, '')]))
}

const typesOf = (points: readonly Point[]): string[] =>
  [...new Set(points.map(({ type }) => type).filter((type) => type !== ''))].slice(0, typesPerReport)

/** States without tasks are left out. */
function depthOf(points: readonly Point[], reading: QueueReading, type: string): StatusReport['depth'] {
  const rows = liveStates.map((state) => {
    const parts = reading.depth.filter((row) => row.state === state && (type === '' || row.type === type))
    const count = valueOf(points, `depth.${state}`, type)
    return { state, count, accuracy: leastAccurate(parts.map((part) => part.accuracy)) }
  })
  return rows.filter(({ count }) => count !== 0)
}
