import mysql from 'mysql2/promise'
import { newTask } from '../../../src-main/kernel/index.ts'
import type { TestMariaDb } from '../../support/mariadb.ts'
import { openTestQueue, type TestQueue } from '../../support/open-queue.ts'
import { atLeast, median, type Goal } from '../../support/report.ts'
import { rawSubmit } from '../raw-loop.ts'
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
}

type Side = 'engine' | 'raw'

interface Runs {
  readonly workers: number
  readonly batch: number
  readonly engine: number[]
  readonly raw: number[]
}

/** Tasks of one submission. */
const submitted = 1_000

export async function endToEnd(server: TestMariaDb, options: EndToEndOptions): Promise<Cell[]> {
  const url = await server.createDatabase('bench_end_to_end')
  const queue = await openTestQueue(url)
  const producer = await mysql.createConnection({ uri: url })
  const processes = await Processes.start(Math.max(...options.workers), { file: 'process.ts', url, ...options })
  const run = new Run(queue, producer, processes)
  const cells: Runs[] = options.batches.flatMap((batch) =>
    options.workers.map((workers) => ({ workers, batch, engine: [], raw: [] }))
  )
  // Tells each side's speed, and warms statements, pages and threads.
  const speeds = new Map<Runs, Record<Side, number>>()
  for (const cell of cells) {
    const few = Math.max(100, cell.batch * cell.workers * 4)
    speeds.set(cell, { engine: await run.side('engine', cell, few), raw: await run.side('raw', cell, few) })
  }
  for (let round = 0; round < options.rounds; round++)
    for (const cell of round % 2 === 0 ? cells : [...cells].reverse())
      for (const side of round % 2 === 0 ? (['engine', 'raw'] as const) : (['raw', 'engine'] as const)) {
        const tasks = Math.ceil((speeds.get(cell)?.[side] ?? 100) * options.seconds)
        cell[side].push(await run.side(side, cell, Math.max(tasks, cell.batch * cell.workers * 2)))
      }
  await processes.stop()
  await producer.end()
  await queue.close()
  return cells.map((cell) => summary(cell, cells))
}

class Run {
  private readonly queue: TestQueue
  private readonly producer: mysql.Connection
  private readonly processes: Processes

  constructor(queue: TestQueue, producer: mysql.Connection, processes: Processes) {
    this.queue = queue
    this.producer = producer
    this.processes = processes
  }

  /** Tasks a second from the first submission to the last completion, on empty tables. */
  async side(side: Side, { workers, batch }: Runs, tasks: number): Promise<number> {
    await this.processes.enter({ mode: 'idle' }, 0)
    for (const table of ['taskdeck_attempt', 'taskdeck_task']) await this.queue.sql.execute(`TRUNCATE TABLE ${table}`)
    await this.processes.enter({ mode: side, batch }, workers)
    const warmUp = batch * workers * 2
    await this.processes.time(warmUp, () => this.submit(side, warmUp))
    return this.processes.time(tasks, () => this.submit(side, tasks))
  }

  private async submit(side: Side, tasks: number): Promise<void> {
    const { type, payload } = benchTask
    for (let left = tasks; left > 0; left -= submitted) {
      const count = Math.min(left, submitted)
      if (side === 'raw') await rawSubmit(this.producer, benchTask, count)
      else await this.queue.store.submit(Array.from({ length: count }, () => newTask.parse({ type, payload })))
    }
  }
}

function summary({ workers, batch, engine, raw }: Runs, cells: readonly Runs[]): Cell {
  const fewest = cells.find((cell) => cell.batch === batch)?.engine ?? []
  return {
    workers,
    batch,
    enginePerSecond: Math.round(median(engine)),
    rawPerSecond: Math.round(median(raw)),
    ratio: median(ratios(engine, raw)),
    toFewest: median(ratios(engine, fewest))
  }
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
