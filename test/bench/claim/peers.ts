import { resolve } from 'node:path'
import { newTask } from '../../../src-main/kernel/index.ts'
import type { TestMariaDb } from '../../support/mariadb.ts'
import { openTestQueue, type TestQueue } from '../../support/open-queue.ts'
import { atLeast, median, type Goal } from '../../support/report.ts'
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
    const ours: number[] = []
    const theirs: number[] = []
    const sides = [
      async () => ours.push(await engineRound(engine, queue, concurrency, tasks)),
      async () => theirs.push(await peerRound(peer, concurrency, tasks))
    ]
    for (let round = 0; round < rounds; round++)
      for (const side of round % 2 === 0 ? sides : [...sides].reverse()) await side()
    results.push({
      peer: '@serenis/mysql-queue',
      concurrency,
      enginePerSecond: Math.round(median(ours)),
      peerPerSecond: Math.round(median(theirs)),
      ratio: median(ours.map((value, index) => value / (theirs[index] ?? Number.NaN)))
    })
  }
  await Promise.all([engine.stop(), peer.stop()])
  await queue.close()
  return results
}

async function engineRound(engine: Processes, queue: TestQueue, batch: number, tasks: number): Promise<number> {
  const { type, payload } = benchTask
  const submit = async (count: number): Promise<void> => {
    await queue.store.submit(Array.from({ length: count }, () => newTask.parse({ type, payload })))
  }
  for (const table of ['taskdeck_attempt', 'taskdeck_task']) await queue.sql.execute(`TRUNCATE TABLE ${table}`)
  await engine.enter({ mode: 'engine', batch }, 1)
  await engine.time(warmUp, () => submit(warmUp))
  await engine.enter({ mode: 'idle' }, 1)
  await submit(tasks)
  const speed = await engine.time(tasks, () => engine.enter({ mode: 'engine', batch }, 1))
  await engine.enter({ mode: 'idle' }, 1)
  return speed
}

async function peerRound(peer: Processes, batch: number, tasks: number): Promise<number> {
  const run = async (count: number): Promise<number> => {
    await peer.enter({ mode: 'fill', count }, 1)
    const speed = await peer.time(count, () => peer.enter({ mode: 'engine', batch }, 1))
    await peer.enter({ mode: 'idle' }, 1)
    return speed
  }
  await run(warmUp)
  return run(tasks)
}

export const peerGoals = (results: readonly PeerResult[]): Goal[] =>
  results.map(({ peer, concurrency, ratio }) => atLeast(`to ${peer} at concurrency ${concurrency}`, ratio, 'ratio', 2))
