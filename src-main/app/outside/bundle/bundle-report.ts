import { metricNames } from '../../../kernel/index.ts'
import { duration, textOf, troubleText } from '../status-text.ts'
import type { BundleData } from './bundle-data.ts'

/** Figures of the whole queue, in the order of the kernel; those by type are in the data. */
const shown = metricNames.filter(
  (name) => !name.startsWith('depth.') || name === 'depth.RUNNING' || name === 'depth.QUEUED'
)

/** `report.md`: what a support engineer reads first. */
export function bundleReport(data: BundleData, files: readonly string[]): string {
  const { connection, window, versions, names } = data
  return `${[
    `# Taskdeck incident bundle: ${plain(connection.name)}`,
    '',
    `${time(window.from)} to ${time(window.to)} (clock of the database), made ${time(data.madeAt)}.`,
    '',
    `- Queue: ${plain(connection.name)}, ${connection.environment}, ${connection.accessMode}, ${plain(connection.server ?? 'server unknown')}`,
    `- Taskdeck ${versions.taskdeck} (${versions.shell}), Node ${versions.node}, ${versions.platform}, tables ${versions.schema === null ? 'unknown' : `version ${versions.schema}`}`,
    `- Clock of the database against the app's: ${data.skewMs === null ? 'unknown' : `${Math.round(data.skewMs)} ms`}`,
    `- Hosts, users and folders: ${names}. No payloads, results or log lines of tasks, no passwords.`,
    '',
    '## Now',
    '',
    ...fenced(textOf(data.status)),
    '## Alerts in the window',
    '',
    ...incidentLines(data),
    '',
    '## Figures of the whole queue in the window',
    '',
    ...figureTable(data),
    '',
    '## What changed (clock of the app)',
    '',
    ...listOr(
      data.changes.map(({ at, text }) => `- ${time(at)} ${plain(text)}`),
      'Nothing that this run of Taskdeck knows of.'
    ),
    '',
    '## How the server runs the statements of a claim',
    '',
    ...planLines(data),
    '',
    '## Files',
    '',
    ...files.map((file) => `- ${file}`)
  ].join('\n')}\n`
}

const time = (at: number): string => new Date(at).toISOString()

/** One line, and nothing in it that Markdown would take for its own. */
const plain = (text: string): string => text.replace(/\s+/g, ' ').replace(/[\\`*_{}[\]<>#|]/g, String.raw`\$&`)

const fenced = (text: string): string[] => ['```', ...text.trimEnd().replaceAll('```', "'''").split('\n'), '```', '']

const listOr = (lines: string[], otherwise: string): string[] => (lines.length > 0 ? lines : [otherwise])

function incidentLines({ incidents }: BundleData): string[] {
  const lines = incidents.flatMap(({ openedAt, resolvedAt, acknowledged, firings }) => [
    `- ${time(openedAt)} to ${resolvedAt === null ? 'now' : time(resolvedAt)}${acknowledged ? ', acknowledged' : ''}`,
    ...firings.map((firing) => `  - ${plain(troubleText({ ...firing, value: firing.peak }))} (peak)`)
  ])
  return listOr(lines, 'None.')
}

function figureTable({ series }: BundleData): string[] {
  const rows = shown.flatMap((metric) => {
    const values = series.series.find((one) => one.metric === metric && one.type === '')?.values ?? []
    const known = values.flatMap((value, index) => (value === null ? [] : [{ value, at: series.times[index] ?? 0 }]))
    if (known.length === 0) return []
    const highest = known.reduce((most, one) => (one.value > most.value ? one : most))
    const lowest = Math.min(...known.map(({ value }) => value))
    const newest = known.at(-1)?.value ?? 0
    return [`| ${metric} | ${short(lowest)} | ${short(highest.value)} | ${time(highest.at)} | ${short(newest)} |`]
  })
  if (rows.length === 0) return ['Nothing was read in the window.']
  const steps = `Each value is of a step of ${duration(series.stepMs)}.`
  return [
    steps,
    '',
    '| figure | least | most | when it was most | newest |',
    '| --- | --- | --- | --- | --- |',
    ...rows
  ]
}

const short = (value: number): string => String(Number(value.toPrecision(6)))

function planLines({ database }: BundleData): string[] {
  if (typeof database === 'string') return [plain(database)]
  if (database.plans.length === 0) return ['Nothing of Taskdeck claims from this table.']
  return database.plans.flatMap(({ name, verdict, advice, sql, steps, remedy }) => [
    `### ${name}: ${verdict} (${advice})`,
    '',
    ...fenced(sql),
    ...steps.map((step) => `- ${plain(stepText(step))}`),
    ...(remedy === null ? [] : ['', 'Would help:', '', ...fenced(remedy)]),
    ''
  ])
}

type Step = Exclude<BundleData['database'], string>['plans'][number]['steps'][number]

function stepText({ access, key, rows, extra }: Step): string {
  const about = rows === null ? '' : `, about ${rows} rows`
  return `${access} on ${key ?? 'no index'}${about}${extra === '' ? '' : `; ${extra}`}`
}
