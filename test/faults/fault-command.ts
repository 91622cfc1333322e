import { parseArgs } from 'node:util'
import { startPrivateMariaDb } from '../support/mariadb.ts'
import { exactly, finish as end } from '../support/report.ts'
import { faultIds, type FaultId } from './injections/index.ts'
import { runMatrix, type MatrixOptions, type MatrixResult } from './run-matrix.ts'

export interface FaultDefaults {
  readonly tasks: number
  readonly workers: number
  readonly minutes: number
  readonly pauseMs: number
  readonly limited: boolean
  readonly faults: readonly FaultId[]
}

/** What a run may be told on the command line: `--tasks`, `--workers`, `--concurrency`, `--seed`, `--minutes`, `--faults F1,F3`, `--lease-ms`, `--mutant`, `--json`. */
export async function faultCommand(args: string[], defaults: FaultDefaults): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      tasks: { type: 'string', default: String(defaults.tasks) },
      workers: { type: 'string', default: String(defaults.workers) },
      concurrency: { type: 'string', default: '4' },
      seed: { type: 'string', default: '1' },
      minutes: { type: 'string', default: String(defaults.minutes) },
      faults: { type: 'string', default: defaults.faults.join(',') },
      'lease-ms': { type: 'string', default: '3000' },
      'pause-ms': { type: 'string', default: String(defaults.pauseMs) },
      mutant: { type: 'string' },
      json: { type: 'boolean', default: false }
    }
  })
  const server = await startPrivateMariaDb({ flushAtCommit: 1 })
  try {
    const result = await runMatrix(server, {
      ...commonOptions,
      tasks: Number(values.tasks),
      workers: Number(values.workers),
      seed: Number(values.seed),
      faults: faultsOf(values.faults),
      leaseMs: Number(values['lease-ms']),
      injectMs: Number(values.minutes) * 60_000,
      pauseMs: Number(values['pause-ms']),
      limited: defaults.limited,
      concurrency: Number(values.concurrency),
      drainMs: leastDrainMs + Number(values.tasks) * drainMsOfTask,
      mutant: values.mutant ?? null,
      say: (text) => console.error(`faults: ${text}`)
    })
    report(result, values.json)
  } finally {
    await server.stop()
  }
  // After hundreds of broken links libuv was once seen to spin for ever on handles that are closed (Node 24.21): the command is over here.
  process.exit()
}

/** That all tasks end is what is promised, not how fast: on two cores the starts of killed workers take most of the time. */
const leastDrainMs = 240_000
const drainMsOfTask = 50

const commonOptions = {
  migrationCuts: Number.POSITIVE_INFINITY,
  databaseCuts: 10
} satisfies Partial<MatrixOptions>

function faultsOf(text: string): FaultId[] {
  const names = text.split(',').map((name) => name.trim().toUpperCase())
  const unknown = names.filter((name) => !(faultIds as readonly string[]).includes(name))
  if (unknown.length > 0) throw new Error(`There is no fault ${unknown.join(', ')}. There are ${faultIds.join(', ')}.`)
  return names as FaultId[]
}

function report({ violations, first, problems, ...facts }: MatrixResult, json: boolean): void {
  for (const violation of violations.slice(0, 20))
    console.error(`${violation.rule} task ${violation.taskId}: ${violation.text}`)
  if (first.length > 0) console.error(`Seed ${facts.seed}; all events of the first one:\n  ${first.join('\n  ')}`)
  for (const problem of problems.slice(0, 20)) console.error(`problem: ${problem}`)
  end(
    { ...facts, problems },
    [
      exactly('tasks that ended', facts.ended, 'tasks', facts.tasks),
      exactly('attempt rows beside claims', facts.attempts, 'rows', facts.claims),
      exactly('violations of the promises', violations.length, 'violations', 0),
      exactly('problems beside them', problems.length, 'problems', 0),
      exactly('faults that could not be injected', Object.keys(facts.notRun).length, 'kinds', 0),
      exactly(
        'faults that never happened',
        Object.values(facts.injected).filter((count) => count === 0).length,
        'forms',
        0
      )
    ],
    json
  )
}
