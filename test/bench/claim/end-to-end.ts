import mysql from 'mysql2/promise'
import { newTask, systemClock } from '../../../src-main/kernel/index.ts'
import { withHints } from '../../../src-main/queue/pool/index.ts'
import type { TaskStore } from '../../../src-main/queue/task-store.ts'
import type { TestMariaDb } from '../../support/mariadb.ts'
import { openTestQueue, type TestQueue } from '../../support/open-queue.ts'
import { atLeast, median, type Goal } from '../../support/report.ts'
import { rawSubmit } from '../raw-loop.ts'
import { cpuMsOf } from './cpu-time.ts'
import { Processes } from './processes.ts'
import { benchTask } from './protocol.ts'

/*
 * Submit, claim, thread, attempt row and completion, all durable: worker processes as users start them, beside the raw loops in the
 * same processes. Each cell's two sides follow each other, and the cells of all process counts take turns.
 */

export interface EndToEndOptions {
  readonly workers: readonly number[]
  readonly batches: readonly number[]
  readonly rounds: number
  /** About how long each side of a cell works in each round. */
  readonly seconds: number
  readonly profileDir: string
}

export interface Cell {
  readonly workers: number
  readonly batch: number
  readonly enginePerSecond: number
  readonly rawPerSecond: number
  /** Median of the rounds' ratios, engine to raw. */
  readonly ratio: number
  /** Median of the rounds' ratios, engine with these workers to engine with the fewest. */
  readonly toFewest: number
  /** Microseconds of the server's CPU for a task, submission included; null where the system does not tell. */
  readonly engineServerUs: number | null
  readonly rawServerUs: number | null
}

type Side = 'engine' | 'raw'

interface Measured {
  readonly perSecond: number
  readonly serverUs: number
}

interface Runs {
  readonly workers: number
  readonly batch: number
  readonly engine: Measured[]
  readonly raw: Measured[]
}

/** Tasks of one submission. */
const submitted = 1_000
/** Tasks of one run: in fewer, its begin and end would be most of it. */
const fewest = 200
/** Checked once: a program that submits has its tasks from elsewhere. */
const task = newTask.parse({ type: benchTask.type, payload: benchTask.payload })

export async function endToEnd(server: TestMariaDb, options: EndToEndOptions): Promise<Cell[]> {
  const url = await server.createDatabase('bench_end_to_end')
  const queue = await openTestQueue(url)
  const producer = await mysql.createConnection({ uri: url })
  const processes = await Processes.start(Math.max(...options.workers), { file: 'process.ts', url, ...options })
  const run = new Run(server, { queue, producer, processes })
  const cells: Runs[] = options.batches.flatMap((batch) =>
    options.workers.map((workers) => ({ workers, batch, engine: [], raw: [] }))
  )
  // The first round tells each side's speed, and warms statements, pages and threads.
  const speeds = new Map<Runs, Record<Side, number>>()
  for (let round = -1; round < options.rounds; round++)
    for (const cell of round % 2 === 0 ? cells : [...cells].reverse()) {
      const speed = speeds.get(cell) ?? { engine: 0, raw: 0 }
      speeds.set(cell, speed)
      for (const side of round % 2 === 0 ? (['engine', 'raw'] as const) : (['raw', 'engine'] as const)) {
        const tasks = Math.max(
          Math.ceil(Math.max(speed.engine, speed.raw) * options.seconds),
          cell.batch * cell.workers * 4,
          fewest
        )
        const measured = await run.side(side, cell, tasks)
        speed[side] = measured.perSecond
        if (round >= 0) cell[side].push(measured)
      }
    }
  await processes.stop()
  await producer.end()
  await queue.close()
  return cells.map((cell) => summary(cell, cells))
}

interface RunParts {
  readonly queue: TestQueue
  readonly producer: mysql.Connection
  readonly processes: Processes
}

class Run {
  private readonly server: TestMariaDb
  private readonly queue: TestQueue
  private readonly store: TaskStore
  private readonly producer: mysql.Connection
  private readonly processes: Processes

  constructor(server: TestMariaDb, { queue, producer, processes }: RunParts) {
    this.server = server
    this.queue = queue
    // As every submitter of ours: without hints an idle worker would meet the tasks up to half a second late.
    this.store = withHints(queue.store, { clock: systemClock })
    this.producer = producer
    this.processes = processes
  }

  /** Tasks a second from the first submission to the last completion, on empty tables. */
  async side(side: Side, { workers, batch }: Runs, tasks: number): Promise<Measured> {
    await this.processes.enter({ mode: 'idle' }, 0)
    for (const table of ['taskdeck_attempt', 'taskdeck_task']) await this.queue.sql.execute(`TRUNCATE TABLE ${table}`)
    await this.processes.enter({ mode: side, batch }, workers)
    // Other cells had other slots, so threads start again: eight workers' are longer about it than a short run takes.
    const warmUp = Math.max(batch * workers * 2, Math.ceil(tasks / 2))
    await this.processes.time(warmUp, () => this.submit(side, warmUp))
    const before = cpuMsOf(this.server.pid)
    const perSecond = await this.processes.time(tasks, () => this.submit(side, tasks))
    return { perSecond, serverUs: ((cpuMsOf(this.server.pid) - before) * 1_000) / tasks }
  }

  private async submit(side: Side, tasks: number): Promise<void> {
    for (let left = tasks; left > 0; left -= submitted) {
      const count = Math.min(left, submitted)
      if (side === 'raw') await rawSubmit(this.producer, benchTask, count)
      else await this.store.submit(Array.from({ length: count }, () => task))
    }
  }
}

function summary({ workers, batch, engine, raw }: Runs, cells: readonly Runs[]): Cell {
  const withFewest = cells.find((cell) => cell.batch === batch)?.engine ?? []
  return {
    workers,
    batch,
    enginePerSecond: Math.round(median(speedsOf(engine))),
    rawPerSecond: Math.round(median(speedsOf(raw))),
    ratio: median(ratios(speedsOf(engine), speedsOf(raw))),
    toFewest: median(ratios(speedsOf(engine), speedsOf(withFewest))),
    engineServerUs: serverUsOf(engine),
    rawServerUs: serverUsOf(raw)
  }
}

const speedsOf = (runs: readonly Measured[]): number[] => runs.map(({ perSecond }) => perSecond)

function serverUsOf(runs: readonly Measured[]): number | null {
  const us = median(runs.map(({ serverUs }) => serverUs))
  return Number.isNaN(us) ? null : Math.round(us)
}

const ratios = (values: readonly number[], others: readonly number[]): number[] =>
  values.map((value, index) => value / (others[index] ?? Number.NaN))

/** The promises of the issue "The engine, complete". Other cells are shown beside them. */
export function endToEndGoals(cells: readonly Cell[]): Goal[] {
  const fewest = Math.min(...cells.map(({ workers }) => workers))
  const most = Math.max(...cells.map(({ workers }) => workers))
  return cells.flatMap(({ workers, batch, ratio, toFewest }) => [
    ...(batch === 50 && workers === 1
      ? [atLeast('end to end to the raw loops, batch 50, 1 worker', ratio, 'ratio', 0.6)]
      : []),
    ...(workers === most && most > fewest
      ? [atLeast(`total of ${most} workers to that of ${fewest}, batch ${batch}`, toFewest, 'ratio', 0.75)]
      : [])
  ])
}
