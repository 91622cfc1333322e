import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { newTask, systemClock } from '../../src-main/kernel/index.ts'
import { withHints } from '../../src-main/queue/pool/index.ts'
import { percentilesOf } from '../../src-main/queue/reading-figures.ts'
import { openSqliteStore, sqliteSchema } from '../../src-main/queue/store-sqlite/index.ts'
import type { TaskStore } from '../../src-main/queue/task-store.ts'
import { startPrivateMariaDb } from '../support/mariadb.ts'
import { openTestQueue } from '../support/open-queue.ts'
import { atLeast, atMost, finish, type Goal } from '../support/report.ts'

/*
 * How soon an idle worker takes up a new task, and what its idleness costs: a real worker process, another process (this one) that
 * submits one task at a time at random moments. Latency is the database's: from when the task became due to its claim.
 */

const { values } = parseArgs({
  options: {
    tasks: { type: 'string', default: '300' },
    'idle-seconds': { type: 'string', default: '15' },
    stores: { type: 'string', default: 'mysql,sqlite' },
    json: { type: 'boolean', default: false }
  }
})
const tasks = Number(values.tasks)
const idleSeconds = Number(values['idle-seconds'])
const root = resolve(import.meta.dirname, '../..')
const pauseMs = { least: 50, spread: 400 }
const lookMs = 50
const startMs = 60_000
/** A task that nobody took up by then would make the bench wait for ever. */
const taskMs = 30_000

interface Measured {
  readonly store: string
  readonly hints: boolean
  readonly tasks: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly worstMs: number
  /** Of the submissions themselves, one durable transaction each: what the machine and its disk make of any work just now. */
  readonly submitP50Ms: number
  readonly submitP99Ms: number
  readonly idlePollsPerSecond: number
}

const folder = mkdtempSync(join(tmpdir(), 'taskdeck-pickup-'))
try {
  const results: Measured[] = []
  if (values.stores.includes('mysql')) results.push(...(await onMysql()))
  if (values.stores.includes('sqlite')) results.push(...(await onSqlite()))
  finish({ bench: 'pickup', idleSeconds, results }, results.flatMap(goalsOf), values.json)
} finally {
  rmSync(folder, { recursive: true, force: true })
}

/** Without hints polling alone is shown beside it, and has no goal. */
function goalsOf({ store, hints, tasks: measured, p99Ms, idlePollsPerSecond }: Measured): Goal[] {
  if (!hints) return []
  return [
    atLeast(`${store}: tasks measured`, measured, 'tasks', tasks),
    atMost(`${store}: pick-up on an idle queue, p99`, p99Ms, 'ms', 100),
    atMost(`${store}: polls of an idle worker`, idlePollsPerSecond, '1/s', 5)
  ]
}

async function onMysql(): Promise<Measured[]> {
  const server = await startPrivateMariaDb({ flushAtCommit: 1 })
  try {
    const url = await server.createDatabase('bench_pickup')
    const queue = await openTestQueue(url)
    const measured = await measureBoth('mysql', url, queue.store)
    await queue.close()
    return measured
  } finally {
    await server.stop()
  }
}

async function onSqlite(): Promise<Measured[]> {
  const file = join(folder, 'queue.sqlite')
  const places = { file, clock: systemClock, migrationsDir: join(root, 'migrations/sqlite') }
  await sqliteSchema(places).migrate()
  const store = await openSqliteStore(places)
  const measured = await measureBoth('sqlite', `sqlite:${file}`, store)
  await store.close()
  return measured
}

async function measureBoth(store: string, connection: string, plain: TaskStore): Promise<Measured[]> {
  const worker = await startWorker(connection)
  try {
    const telling = withHints(plain, { clock: systemClock })
    // A few first: the handler's thread, statements and pages warm up.
    await latencies(telling, 5)
    const idlePollsPerSecond = await countIdlePolls(worker)
    const withThem = { store, hints: true, idlePollsPerSecond, ...figures(await latencies(telling, tasks)) }
    const few = Math.max(1, Math.round(tasks / 5))
    return [withThem, { store, hints: false, idlePollsPerSecond, ...figures(await latencies(plain, few)) }]
  } finally {
    worker.kill('SIGTERM')
    await once(worker, 'close')
  }
}

interface Sample {
  readonly pickUpMs: number
  readonly submitMs: number
}

async function latencies(store: TaskStore, count: number): Promise<Sample[]> {
  const found: Sample[] = []
  for (let n = 0; n < count; n++) {
    // Long enough that the worker is idle again, and never in step with its polls.
    await delay(pauseMs.least + Math.random() * pauseMs.spread)
    const from = performance.now()
    const [submitted] = await store.submit([newTask.parse({ type: 'sleep', payload: '{"ms":0}' })])
    const submitMs = performance.now() - from
    found.push({ submitMs, pickUpMs: await pickUpOf(store, submitted?.taskId ?? '') })
  }
  return found
}

async function pickUpOf(store: TaskStore, taskId: string): Promise<number> {
  for (const end = performance.now() + taskMs; performance.now() < end; await delay(lookMs)) {
    const [attempt] = (await store.get(taskId))?.attempts ?? []
    if (attempt?.endedAt !== null && attempt !== undefined) return attempt.startedAt - attempt.dueAt
  }
  throw new Error(`task ${taskId} was not run within ${taskMs} ms`)
}

type Figures = Pick<Measured, 'tasks' | 'p50Ms' | 'p99Ms' | 'worstMs' | 'submitP50Ms' | 'submitP99Ms'>

function figures(found: readonly Sample[]): Figures {
  const pickUp = found.map(({ pickUpMs }) => pickUpMs)
  const { p50, p99 } = percentilesOf([...pickUp]) ?? nothing
  const submit = percentilesOf(found.map(({ submitMs }) => submitMs)) ?? nothing
  const worstMs = Math.max(...pickUp)
  return { tasks: found.length, p50Ms: p50, p99Ms: p99, worstMs, submitP50Ms: submit.p50, submitP99Ms: submit.p99 }
}

const nothing = { p50: Number.NaN, p99: Number.NaN }

/** The worker says how often it polled when it is asked; see pickup-worker.ts. */
async function countIdlePolls(worker: ChildProcess): Promise<number> {
  await delay(2_000) // from the last task to its slowest pace
  const before = await pollsOf(worker)
  const from = performance.now()
  await delay(idleSeconds * 1_000)
  return ((await pollsOf(worker)) - before) / ((performance.now() - from) / 1_000)
}

async function pollsOf(worker: ChildProcess): Promise<number> {
  worker.send('polls')
  const [polls] = (await once(worker, 'message', { signal: AbortSignal.timeout(startMs) })) as [number]
  return polls
}

async function startWorker(connection: string): Promise<ChildProcess> {
  const worker = spawn(process.execPath, [join(import.meta.dirname, 'pickup-worker.ts'), join(folder, 'artifacts')], {
    env: { ...process.env, TASKDECK_CONNECTION: connection },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc']
  })
  await once(worker, 'message', { signal: AbortSignal.timeout(startMs) })
  return worker
}
