import { loadavg } from 'node:os'
import { parseArgs } from 'node:util'
import { startPrivateMariaDb } from '../support/mariadb.ts'
import { finish } from '../support/report.ts'
import { claimCosts, claimCostGoals } from './claim/costs.ts'
import { endToEnd, endToEndGoals } from './claim/end-to-end.ts'
import { againstPeers, peerGoals } from './claim/peers.ts'

/*
 * The queue's speed, as ratios within one run on one server that syncs every commit: the machine's own speed is not ours.
 * See docs/performance.md.
 */

const { values } = parseArgs({
  options: {
    /** Small sizes and few rounds: to see that it works. */
    quick: { type: 'boolean', default: false },
    parts: { type: 'string', default: 'end-to-end,costs,peers' },
    workers: { type: 'string', default: '1,4,8' },
    batches: { type: 'string', default: '1,10,50,200' },
    rounds: { type: 'string' },
    seconds: { type: 'string' },
    /** A folder with the peers' packages; see docs/performance.md. Without it they are left out. */
    peers: { type: 'string', default: '' },
    /** A folder for CPU profiles of the worker processes. */
    profile: { type: 'string', default: '' },
    json: { type: 'boolean', default: false }
  }
})
const numbers = (list: string): number[] => list.split(',').map(Number)
const rounds = Number(values.rounds ?? (values.quick ? 1 : 5))
const seconds = Number(values.seconds ?? (values.quick ? 0.3 : 1))
const parts = values.parts.split(',')
const sizes = values.quick
  ? { future: 20_000, finished: 5_000, blocked: 5_000, leases: 2_000, peerTasks: 3_000 }
  : { future: 1_000_000, finished: 100_000, blocked: 100_000, leases: 10_000, peerTasks: 20_000 }

const loadBefore = loadavg()
const server = await startPrivateMariaDb({
  flushAtCommit: 1,
  serverOptions: ['--innodb-buffer-pool-size=2G', '--innodb-log-file-size=512M']
})
try {
  const cells = parts.includes('end-to-end')
    ? await endToEnd(server, {
        workers: numbers(values.workers),
        batches: numbers(values.batches),
        rounds,
        seconds,
        profileDir: values.profile
      })
    : []
  const costs = parts.includes('costs') ? await claimCosts(server, { rounds, ...sizes }) : undefined
  const withPeers = parts.includes('peers') && values.peers !== ''
  const peers = withPeers
    ? await againstPeers(server, { dir: values.peers, rounds, tasks: sizes.peerTasks, profileDir: values.profile })
    : 'left out: no --peers DIR'
  const goals = [
    ...endToEndGoals(cells),
    ...(costs ? claimCostGoals(costs) : []),
    ...(typeof peers === 'string' ? [] : peerGoals(peers))
  ]
  const load = { before: loadBefore, after: loadavg() }
  finish({ bench: 'claim', rounds, load, endToEnd: cells, costs: costs ?? 'left out', peers }, goals, values.json)
} finally {
  await server.stop()
}
