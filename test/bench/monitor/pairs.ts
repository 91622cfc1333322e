import { newTask, systemClock } from '../../../src-main/kernel/index.ts'
import { createSampler } from '../../../src-main/monitoring/index.ts'
import { withHints } from '../../../src-main/queue/pool/index.ts'
import type { TaskStore } from '../../../src-main/queue/task-store.ts'
import { Processes } from '../claim/processes.ts'
import { benchTask } from '../claim/protocol.ts'
import type { TestMariaDb } from '../../support/mariadb.ts'
import { openTestQueue } from '../../support/open-queue.ts'
import { atLeast, median, type Goal } from '../../support/report.ts'
import { openWatched } from './ticks.ts'

/*
 * The throughput of workers that drain a queue, watched and not, in pairs whose order takes turns. The sampler is the app's, at its own pace.
 */

export interface PairOptions {
  readonly workers: number
  readonly pairs: number
  /** About how long each side takes. */
  readonly seconds: number
}

export interface PairsResult {
  readonly workers: number
  /** Watched to not watched, pair by pair. */
  readonly ratios: readonly number[]
  readonly watchedPerSecond: number
  readonly alonePerSecond: number
  /** Ticks of all watched sides. */
  readonly ticks: number
}

/** Tasks that each worker process holds at once. */
const batch = 50
const submitted = 1_000
const task = newTask.parse({ type: benchTask.type, payload: benchTask.payload })

export async function measurePairs(
  server: TestMariaDb,
  { workers, pairs, seconds }: PairOptions
): Promise<PairsResult> {
  const url = await server.createDatabase('bench_monitor_pairs')
  const queue = await openTestQueue(url)
  const store = withHints(queue.store, { clock: systemClock })
  const processes = await Processes.start(workers, { file: 'process.ts', url, profileDir: '' })
  const watched = await openWatched(url)
  let ticks = 0
  const sampler = createSampler({
    connectionId: 'bench',
    clock: systemClock,
    read: () => watched.read(),
    onTick: () => (ticks += 1),
    onState: () => undefined
  })
  const side = async (tasks: number, isWatched: boolean): Promise<number> => {
    await processes.enter({ mode: 'idle' }, 0)
    for (const table of ['taskdeck_attempt', 'taskdeck_task']) await queue.sql.execute(`TRUNCATE TABLE ${table}`)
    await processes.enter({ mode: 'engine', batch }, workers)
    if (isWatched) sampler.start()
    const perSecond = await processes.time(tasks, () => submit(store, tasks))
    await sampler.stop()
    return perSecond
  }
  const tasks = Math.ceil((await side(2_000, false)) * seconds)
  const runs: { readonly watched: number; readonly alone: number }[] = []
  for (let pair = 0; pair < pairs; pair++) {
    const isFirst = pair % 2 === 0
    const first = await side(tasks, isFirst)
    const second = await side(tasks, !isFirst)
    runs.push(isFirst ? { watched: first, alone: second } : { watched: second, alone: first })
  }
  await processes.stop()
  await watched.close()
  await queue.close()
  return {
    workers,
    ratios: runs.map((run) => Number((run.watched / run.alone).toFixed(3))),
    watchedPerSecond: Math.round(median(runs.map((run) => run.watched))),
    alonePerSecond: Math.round(median(runs.map(({ alone }) => alone))),
    ticks
  }
}

async function submit(store: TaskStore, tasks: number): Promise<void> {
  for (let left = tasks; left > 0; left -= submitted)
    await store.submit(Array.from({ length: Math.min(left, submitted) }, () => task))
}

export const pairGoals = ({ workers, ratios }: PairsResult): Goal[] => [
  atLeast(`throughput of ${workers} workers, watched to not watched`, median(ratios), 'ratio', 0.98)
]
