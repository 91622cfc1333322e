import type { AlertSignal, QueueTrouble } from '../../kernel/index.ts'
import { printable } from '../printable.ts'
import { leastAccurate } from './least-accurate.ts'
import type { PendingTrouble, StatusReport, Trouble } from './status-report.ts'

/** Rows of types for a terminal; `--json` has more. */
const typesShown = 20

/** The report for people, a line each; safe for a terminal. */
export function textOf(report: StatusReport): string {
  const { connection, verdict, unknown, troubles, named, pending } = report
  const about = [connection.environment, connection.server].filter((part) => part !== null).join(', ')
  const lines = [
    `${connection.name}${about === '' ? '' : ` (${about})`}: ${verdictText[verdict]}`,
    ...(unknown === null ? [] : [`  ${unknown}`]),
    ...troubles.map((trouble) => `  ${troubleText(trouble)}`),
    ...(named === null ? [] : [`  ${namedText(named)}`]),
    ...pending.map((trouble) => `  ${pendingText(trouble)}`),
    ...(report.readingAt === null ? [] : figureLines(report)),
    ...report.limits.map(limitText),
    sourceText(report)
  ]
  return `${lines.map(printable).join('\n')}\n`
}

const limitText = ({ probe, reason, index, why }: StatusReport['limits'][number]): string =>
  reason === 'schema'
    ? `unknown: ${probe} (${why ?? 'the table does not say'})`
    : `held back: ${probe} (${reason})${index ? `; would help: ${index}` : ''}`

const verdictText = {
  well: 'all well',
  warning: 'no alert, but look',
  trouble: 'something is wrong',
  unknown: 'cannot tell'
} as const

const sourceText = ({ source, readingAgeMs, judgedBy, readingAt }: StatusReport): string => {
  const by = source === 'app' ? 'by the running Taskdeck' : 'by this command'
  if (readingAt === null) return `asked ${by}`
  const age = readingAgeMs === null || source === 'database' ? '' : `, ${duration(readingAgeMs)} ago`
  return `read ${by}${age}; judged by ${judgedBy === 'rules' ? 'the alert rules' : 'the default thresholds'}`
}

function figureLines({ depth, figures, types }: StatusReport): string[] {
  const count = (value: number | null | undefined): string => (value == null ? 'unknown' : String(Math.round(value)))
  const line = (name: string, text: string): string => `${name.padEnd(10)} ${text}`
  const states = depth.map((row) => `${row.state} ${bounded(row)}`).join(', ')
  const total = bounded({
    count: figures.depth ?? null,
    accuracy: leastAccurate(depth.map(({ accuracy }) => accuracy))
  })
  return [
    line('depth', `${total}${states === '' ? '' : `: ${states}`}`),
    line('oldest', figures.oldestMs == null ? 'unknown' : duration(figures.oldestMs)),
    line('in, out', `${count(figures.in1m)}, ${count(figures.out1m)} a minute`),
    line('failures', `${ratio(figures.failureRate)}, retries ${ratio(figures.retryRate)} (5 min)`),
    line('workers', `${count(figures.workersAlive)} alive of ${count(figures.workersKnown)}`),
    ...types.slice(0, typesShown).map(({ type, depth: rows, oldestMs }) => {
      const has = rows.length === 0 ? 'no tasks' : rows.map((row) => `${row.state} ${bounded(row)}`).join(', ')
      return `  ${type}: ${has}${oldestMs ? `, oldest ${duration(oldestMs)}` : ''}`
    }),
    ...(types.length > typesShown ? [`  and ${types.length - typesShown} more types`] : [])
  ]
}

const bounded = ({ count, accuracy }: Omit<StatusReport['depth'][number], 'state'>): string =>
  count === null ? 'unknown' : `${{ exact: '', atLeast: 'at least ', about: 'about ' }[accuracy]}${count}`

const ratio = (value: number | null | undefined): string =>
  value == null ? 'unknown' : `${(value * 100).toFixed(1)} %`

/** Of each signal, what it is called and how its numbers are written. */
const signals: Readonly<Record<AlertSignal, readonly [name: string, unit: (value: number) => string]>> = {
  oldestMs: ['oldest waiting', duration],
  failureRate: ['failure rate', ratio],
  recoveredRise: ['recovered leases, rise', String],
  workersSilent: ['silent workers', String],
  poolUse: ['worker slots used', ratio],
  databaseUse: ['database sessions used', ratio],
  claimP95: ['claims, 95th percentile', duration],
  progressStopped: ['running tasks without an end', String],
  growth: ['tasks a minute in beyond out', String],
  schedulesLate: ['late schedules', String],
  blindMs: ['without a reading', duration]
}

export function troubleText({ signal, type, value, above, since, silenced }: Trouble): string {
  const [name, unit] = signals[signal]
  const of = type === '' ? '' : ` of ${type}`
  const when = since === null ? '' : ` since ${new Date(since).toISOString()}`
  // A rule ends only after it has been clear for a while.
  const ending = value <= above ? '; below it again, not over yet' : ''
  return `${name}${of} ${unit(value)}, threshold ${unit(above)}${when}${silenced ? ' (silenced)' : ''}${ending}`
}

const pendingText = (trouble: PendingTrouble): string =>
  `${troubleText(trouble)}; an alert after ${duration(trouble.forMs)} of it`

function namedText(named: QueueTrouble): string {
  switch (named.kind) {
    case 'noWorkers':
      return `no live worker, and waiting: ${named.waiting}`
    case 'failing':
      if (named.againRate === null) return `${named.type} is failing: ${ratio(named.failureRate)} of its tasks (5 min)`
      return `${named.type} is failing: ${ratio(named.failureRate)} of its attempts, ${ratio(named.againRate)} are tried again (5 min)`
    case 'retrying':
      return `${named.type} retries a lot: ${ratio(named.againRate)} of its attempts, ${ratio(named.failureRate)} failed (5 min)`
    case 'oldest':
      return `${named.type}: task ${named.taskId} has waited ${duration(named.ageMs)}`
  }
}

/** 250 ms, 12.5 s, 5 min 3 s, 2 h 10 min. */
export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`
  const seconds = ms / 1_000
  if (seconds < 60) return `${Number(seconds.toFixed(1))} s`
  const whole = Math.floor(seconds)
  if (whole < 3_600) return `${Math.floor(whole / 60)} min ${whole % 60} s`
  return `${Math.floor(whole / 3_600)} h ${Math.floor((whole % 3_600) / 60)} min`
}
