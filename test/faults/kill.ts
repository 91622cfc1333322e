import { parseArgs } from 'node:util'
import { startPrivateMariaDb } from '../support/mariadb.ts'
import { killRun } from './kill-run.ts'
import { exactly, finish } from '../support/report.ts'

const { values } = parseArgs({
  options: {
    tasks: { type: 'string', default: '20000' },
    workers: { type: 'string', default: '4' },
    'kill-every-ms': { type: 'string', default: '2000' },
    'lease-ms': { type: 'string', default: '3000' },
    seed: { type: 'string', default: '1' },
    minutes: { type: 'string', default: '10' },
    freeze: { type: 'boolean', default: true },
    'restart-database': { type: 'boolean', default: false },
    json: { type: 'boolean', default: false }
  },
  allowNegative: true
})

const server = await startPrivateMariaDb({ flushAtCommit: 1 })
try {
  const { verdict, ...facts } = await killRun(server, {
    tasks: Number(values.tasks),
    workers: Number(values.workers),
    killEveryMs: Number(values['kill-every-ms']),
    mostKills: Number.POSITIVE_INFINITY,
    freeze: values.freeze,
    restartDatabase: values['restart-database'],
    leaseMs: Number(values['lease-ms']),
    deadlineMs: Number(values.minutes) * 60_000,
    seed: Number(values.seed)
  })
  for (const violation of verdict.violations.slice(0, 20))
    console.error(`${violation.rule} task ${violation.taskId}: ${violation.text}`)
  finish(
    { ...facts, claims: verdict.claims, recoveries: verdict.recoveries },
    [
      exactly('tasks that ended', facts.ended, 'tasks', facts.tasks),
      exactly('tasks that succeeded', facts.succeeded, 'tasks', facts.tasks),
      exactly('effects in the ledger', facts.effects, 'rows', facts.tasks),
      exactly('attempt rows beside claims', facts.attempts, 'rows', verdict.claims),
      exactly('violations of the promises', verdict.violations.length, 'violations', 0)
    ],
    values.json
  )
} finally {
  await server.stop()
}
