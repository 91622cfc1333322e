import { resolve } from 'node:path'
import { newTask } from '../../../src-main/kernel/index.ts'
import type { TestMariaDb } from '../../support/mariadb.ts'
import { openTestQueue, type TestQueue } from '../../support/open-queue.ts'
import { atLeast, median, type Goal } from '../../support/report.ts'
import { cpuMsOf } from './cpu-time.ts'
import { Processes } from './processes.ts'
import { benchTask } from './protocol.ts'

/*
 * One worker process of ours and one of the best MySQL peer work the same number of tasks off, in turns on one server. The peer's
 * packages are never ours: they come from a folder that the caller names.
 */

export interface PeerOptions {
  readonly dir: string
  readonly rounds: number
  readonly tasks: number
  readonly profileDir: string
}

export interface PeerResult {
  readonly peer: string
  readonly concurrency: number
  readonly enginePerSecond: number
  readonly peerPerSecond: number
  readonly ratio: number
  /** Microseconds of CPU for a task, steadier than any speed: the server's, and the worker process's. */
  readonly engineCpuUs: CpuUs
  readonly peerCpuUs: CpuUs
}

interface CpuUs {
  readonly server: number
  readonly worker: number
}

interface Measured {
  readonly perSecond: number
  readonly cpuUs: CpuUs
}

const concurrencies = [50, 200] as const
const warmUp = 500

export async function againstPeers(server: TestMariaDb, options: PeerOptions): Promise<PeerResult[]> {
  const { dir, rounds, tasks, profileDir } = options
  const url = await server.createDatabase('bench_ours')
  const peerUrl = await server.createDatabase('bench_peer')
  const queue = await openTestQueue(url)
  const engine = await Processes.start(1, { file: 'process.ts', url, profileDir })
  const peer = await Processes.start(1, { file: 'peer-process.ts', args: [resolve(dir)], url: peerUrl, profileDir })
  const results: PeerResult[] = []
  for (const concurrency of concurrencies) {
    const ours: Measured[] = []
    const theirs: Measured[] = []
    const sides = [
      async () => ours.push(await engineRound({ processes: engine, queue, server }, concurrency, tasks)),
      async () => theirs.push(await peerRound({ processes: peer, server }, concurrency, tasks))
    ]
    // The first round is not counted: threads start in it, and compilers get to know the code.
    for (let round = -1; round < rounds; round++) {
      for (const side of round % 2 === 0 ? sides : [...sides].reverse()) await side()
      if (round < 0) for (const list of [ours, theirs]) list.length = 0
    }
    results.push({
      peer: '@serenis/mysql-queue',
      concurrency,
      enginePerSecond: Math.round(median(ours.map(speedOf))),
      peerPerSecond: Math.round(median(theirs.map(speedOf))),
      ratio: median(ours.map(({ perSecond }, index) => perSecond / (theirs[index]?.perSecond ?? Number.NaN))),
      engineCpuUs: medianCpu(ours),
      peerCpuUs: medianCpu(theirs)
    })
  }
  await Promise.all([engine.stop(), peer.stop()])
  await queue.close()
  return results
}

const speedOf = ({ perSecond }: Measured): number => perSecond

const medianCpu = (rounds: readonly Measured[]): CpuUs => ({
  server: Math.round(median(rounds.map(({ cpuUs }) => cpuUs.server))),
  worker: Math.round(median(rounds.map(({ cpuUs }) => cpuUs.worker)))
})

interface Side {
  readonly processes: Processes
  readonly server: TestMariaDb
}

/** Until `tasks` tasks, which are there already, are done. */
async function measured({ processes, server }: Side, batch: number, tasks: number): Promise<Measured> {
  const before = { server: cpuMsOf(server.pid), worker: processes.cpuMs() }
  const perSecond = await processes.time(tasks, () => processes.enter({ mode: 'engine', batch }, 1))
  const used = (ms: number, from: number): number => ((ms - from) * 1_000) / tasks
  const cpuUs = { server: used(cpuMsOf(server.pid), before.server), worker: used(processes.cpuMs(), before.worker) }
  return { perSecond, cpuUs }
}

async function engineRound(
  side: Side & { readonly queue: TestQueue },
  batch: number,
  tasks: number
): Promise<Measured> {
  const { processes: engine, queue } = side
  const { type, payload } = benchTask
  const submit = async (count: number): Promise<void> => {
    await queue.store.submit(Array.from({ length: count }, () => newTask.parse({ type, payload })))
  }
  for (const table of ['taskdeck_attempt', 'taskdeck_task']) await queue.sql.execute(`TRUNCATE TABLE ${table}`)
  await engine.enter({ mode: 'engine', batch }, 1)
  await engine.time(warmUp, () => submit(warmUp))
  await engine.enter({ mode: 'idle' }, 1)
  await submit(tasks)
  const result = await measured(side, batch, tasks)
  await engine.enter({ mode: 'idle' }, 1)
  return result
}

async function peerRound(side: Side, batch: number, tasks: number): Promise<Measured> {
  const peer = side.processes
  const run = async (count: number): Promise<Measured> => {
    await peer.enter({ mode: 'fill', count }, 1)
    const result = await measured(side, batch, count)
    await peer.enter({ mode: 'idle' }, 1)
    return result
  }
  await run(warmUp)
  return run(tasks)
}

export const peerGoals = (results: readonly PeerResult[]): Goal[] =>
  results.map(({ peer, concurrency, ratio }) => atLeast(`to ${peer} at concurrency ${concurrency}`, ratio, 'ratio', 2))
