import { loadavg } from 'node:os'
import { parseArgs } from 'node:util'
import { startPrivateMariaDb } from '../support/mariadb.ts'
import { finish } from '../support/report.ts'
import { measureForeignTicks } from './monitor/foreign.ts'
import { measurePairs, pairGoals } from './monitor/pairs.ts'
import { measureTicks, tickGoals, type TickResult } from './monitor/ticks.ts'

/*
 * What watching costs. `ticks`: one tick at growing table sizes beside the plain statements of the first design article; live tasks and the last
 * minutes are the same at each size, so that what grows is what has finished, and then a tenth of the table waits. `foreign`: the same of the table of
 * that article, read by its profile with the indexes that the profile advises. `pairs`: the throughput of workers that drain, with ticks and without.
 */

const { values } = parseArgs({
  options: {
    parts: { type: 'string', default: 'ticks,foreign' },
    rows: { type: 'string', default: '20000,200000' },
    rounds: { type: 'string', default: '15' },
    /** Of the pairs. */
    workers: { type: 'string', default: '8' },
    pairs: { type: 'string', default: '12' },
    seconds: { type: 'string', default: '30' },
    json: { type: 'boolean', default: false }
  }
})
const parts = values.parts.split(',')
const rounds = Number(values.rounds)

const load = { before: loadavg() }
const server = await startPrivateMariaDb({
  flushAtCommit: parts.includes('pairs') ? 1 : 2,
  serverOptions: [
    '--innodb-buffer-pool-size=6G',
    '--innodb-log-file-size=2G',
    '--innodb-sort-buffer-size=64M',
    '--innodb-autoinc-lock-mode=2'
  ]
})
try {
  const ticks: TickResult[] = []
  if (parts.includes('ticks'))
    for (const rows of values.rows.split(',')) ticks.push(await measureTicks(server, Number(rows), rounds))
  const foreign: TickResult[] = []
  if (parts.includes('foreign'))
    for (const rows of values.rows.split(',')) foreign.push(await measureForeignTicks(server, Number(rows), rounds))
  const pairs = parts.includes('pairs')
    ? await measurePairs(server, {
        workers: Number(values.workers),
        pairs: Number(values.pairs),
        seconds: Number(values.seconds)
      })
    : undefined
  const foreignGoals = tickGoals(foreign, 'a tick of a foreign table')
  const goals = [...tickGoals(ticks), ...foreignGoals, ...(pairs ? pairGoals(pairs) : [])]
  const facts = { bench: 'monitor', rounds, load: { ...load, after: loadavg() }, ticks, foreign }
  finish({ ...facts, pairs: pairs ?? 'left out' }, goals, values.json)
} finally {
  await server.stop()
}
