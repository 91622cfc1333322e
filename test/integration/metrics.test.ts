import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { newTask, systemClock, type SqlDatabase } from '../../src-main/kernel/index.ts'
import { openMysqlStore } from '../../src-main/queue/store-mysql/index.ts'
import { openSqliteStore } from '../../src-main/queue/store-sqlite/index.ts'
import type { TaskStore } from '../../src-main/queue/task-store.ts'
import { createTestDatabase } from '../support/mariadb.ts'
import { openTestQueue } from '../support/open-queue.ts'
import { temporaryDir } from './pool-support/start-worker.ts'
import { startWorkerProcess } from './pool-support/worker-process.ts'

interface Sample {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

const line = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/
const label = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\.)*)"(?:,|$)/g

/** Prometheus' text format, strictly: each sample belongs to a metric with HELP and TYPE before it. */
function parseMetrics(text: string): Sample[] {
  const types = new Map<string, string>()
  const helped = new Set<string>()
  return text.split('\n').flatMap((row) => {
    if (row === '') return []
    const [, comment, name = '', rest = ''] = /^# (HELP|TYPE) (\S+) (.+)$/.exec(row) ?? []
    if (comment === 'HELP') helped.add(name)
    if (comment === 'TYPE') types.set(name, rest)
    if (comment !== undefined) return []
    const [, sample = '', labels = '', value = ''] = line.exec(row) ?? []
    const metric = types.has(sample) ? sample : sample.replace(/_(bucket|sum|count)$/, '')
    if (!types.has(metric) || !helped.has(metric)) throw new Error(`not in Prometheus' format: ${row}`)
    if (types.get(metric) === 'counter' && !metric.endsWith('_total'))
      throw new Error(`a counter without _total: ${row}`)
    const parsed = Object.fromEntries([...labels.matchAll(label)].map(([, key = '', said = '']) => [key, said]))
    return [{ name: sample, labels: parsed, value: Number(value) }]
  })
}

/** Of all series with these labels. */
function sum(samples: readonly Sample[], name: string, labels: Record<string, string> = {}): number | undefined {
  const found = samples.filter(
    (sample) => sample.name === name && Object.entries(labels).every(([key, value]) => sample.labels[key] === value)
  )
  return found.length === 0 ? undefined : found.reduce((total, { value }) => total + value, 0)
}

async function startMeasured(connection: string) {
  const artifacts = join(temporaryDir(), 'artifacts')
  const args = ['--migrate', '--metrics-port', '0', '--poll-ms', '20', '--artifacts', artifacts, '--lease-ms', '20000']
  const worker = startWorkerProcess(connection, ...args)
  await worker.untilSays(/metrics at http:\/\/127\.0\.0\.1:\d+\/metrics/)
  const url = /metrics at (\S+)/.exec(worker.output())?.[1] ?? ''
  return { worker, scrape: async () => parseMetrics(await (await fetch(url)).text()) }
}

async function submitted(store: TaskStore): Promise<string[]> {
  const tasks = [
    ...Array.from({ length: 5 }, () => ({ type: 'sleep', payload: '{"ms":0}' })),
    { type: 'sleep', payload: '{"ms":60000}', timeoutMs: 50, maxAttempts: 1 },
    { type: 'sleep', payload: 'null' },
    // Waits for an hour.
    { type: 'sleep', payload: '{"ms":0}', runAt: Date.now() + 3_600_000 },
    // Nobody has a handler for it, so it is due for longer and longer.
    { type: 'nobody', payload: '{}' }
  ]
  const results = await store.submit(tasks.map((task) => newTask.parse(task)))
  return results.map(({ taskId }) => taskId)
}

async function untilEnded(store: TaskStore, ids: readonly string[]): Promise<void> {
  for (const id of ids) while ((await store.get(id))?.finishedAt === null) await pause(20)
}

const places = [
  [
    'a server',
    async () => {
      const database = await createTestDatabase(inject('mariadbUrl'), 'metrics')
      onTestFinished(() => database.drop())
      const open = async (): Promise<TaskStore> => {
        const queue = await openTestQueue(database.url)
        onTestFinished(() => queue.close())
        return queue.store
      }
      return { connection: database.url, open }
    }
  ],
  [
    'an SQLite file',
    () => {
      const file = join(temporaryDir(), 'queue.sqlite')
      const migrationsDir = join(import.meta.dirname, '../../migrations/sqlite')
      const open = async (): Promise<TaskStore> => {
        const store = await openSqliteStore({ file, clock: systemClock, migrationsDir })
        onTestFinished(() => store.close())
        return store
      }
      return Promise.resolve({ connection: `sqlite:${file}`, open })
    }
  ]
] as const

it('a claim on a server tells when its transaction was begun again', async () => {
  const database = await createTestDatabase(inject('mariadbUrl'), 'metrics')
  onTestFinished(() => database.drop())
  const queue = await openTestQueue(database.url)
  onTestFinished(() => queue.close())
  const { sql, store } = queue
  await store.submit([newTask.parse({ type: 'mail', payload: '{}' })])
  // The transaction of the claim is rolled back once, as by a deadlock, and then run again by the one who retries.
  const retrying: SqlDatabase = {
    flavour: sql.flavour,
    serverVersion: sql.serverVersion,
    execute: (text, values) => sql.execute(text, values),
    close: () => sql.close(),
    async transaction(work, options) {
      const rolledBack = sql.transaction(async (runner) => {
        await work(runner)
        throw new Error('deadlock')
      })
      await rolledBack.catch(() => undefined)
      return sql.transaction(work, options)
    }
  }
  const claiming = await openMysqlStore({ database: retrying, clock: systemClock })
  let conflicts = 0
  const request = { workerId: 'worker', limit: 1, leaseMs: 30_000, types: ['mail'], onConflict: () => void conflicts++ }
  expect(await claiming.claim(request)).toHaveLength(1)
  expect(conflicts).toBe(1)
})

describe.each(places)('the metrics of a worker on %s', (_name, place) => {
  it('count what it did, and show the queue as it is', async () => {
    const { connection, open } = await place()
    const { scrape } = await startMeasured(connection)
    const store = await open()
    const ids = await submitted(store)
    await untilEnded(store, ids.slice(0, 7))
    // The worker is told of a stored end a moment after the database shows it.
    let samples = await scrape()
    while ((sum(samples, 'taskdeck_task_duration_seconds_count') ?? 0) < 7) {
      await pause(20)
      samples = await scrape()
    }
    const of = (name: string, labels?: Record<string, string>) => sum(samples, `taskdeck_${name}`, labels)
    expect(of('tasks_claimed_total', { type: 'sleep' })).toBe(7)
    expect(of('tasks_succeeded_total', { type: 'sleep', outcome: 'success' })).toBe(5)
    expect(of('tasks_failed_total', { type: 'sleep', code: 'TIMEOUT' })).toBe(1)
    expect(of('tasks_failed_total', { type: 'sleep', code: 'INVALID_PAYLOAD' })).toBe(1)
    expect(of('tasks_timed_out_total', { type: 'sleep' })).toBe(1)
    expect(of('claim_conflicts_total')).toBe(0)
    expect(of('lease_renewal_failures_total')).toBe(0)
    expect(of('task_duration_seconds_bucket', { type: 'sleep', le: '+Inf' })).toBe(7)
    expect(of('task_duration_seconds_sum')).toBeGreaterThan(0.05)
    expect(of('worker_slots')).toBe(4)
    expect(of('worker_database_up')).toBe(1)
    // The reading is shared for 5 s: the first one may be of before the end.
    while (of('tasks_pending', { type: 'sleep' }) !== 1) {
      await pause(200)
      samples = await scrape()
    }
    expect(of('tasks', { type: 'nobody', state: 'QUEUED' })).toBe(1)
    expect(of('tasks_pending', { type: 'nobody' })).toBe(1)
    expect(of('oldest_pending_seconds')).toBeGreaterThan(0)
    for (const name of ['tasks_submitted_total', 'tasks_retried_total']) expect(of(name)).toBeUndefined()
  })
})
