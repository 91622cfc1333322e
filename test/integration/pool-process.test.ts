import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { openMysql, parseMysqlUrl } from '../../src-main/connections/index.ts'
import { newTask, systemClock, type NewTaskInput, type TaskState, type WorkerRow } from '../../src-main/kernel/index.ts'
import { withHints } from '../../src-main/queue/pool/index.ts'
import { openMysqlStore } from '../../src-main/queue/store-mysql/index.ts'
import { openSqliteStore } from '../../src-main/queue/store-sqlite/index.ts'
import type { TaskStore } from '../../src-main/queue/task-store.ts'
import { createTestDatabase } from '../support/mariadb.ts'
import { faultHandlers, temporaryDir } from './pool-support/start-worker.ts'
import { startWorkerProcess, type WorkerProcess } from './pool-support/worker-process.ts'

interface Processes {
  readonly worker: WorkerProcess
  readonly dir: string
  /** This process's own way to the queue. */
  readonly store: TaskStore
}

async function onSqlite(...args: string[]): Promise<Processes> {
  const dir = temporaryDir()
  const file = join(dir, 'queue.sqlite')
  const worker = startWorkerProcess(`sqlite:${file}`, '--migrate', '--artifacts', join(dir, 'artifacts'), ...args)
  await worker.untilSays(/task types/)
  const migrationsDir = resolve(import.meta.dirname, '../../migrations/sqlite')
  const store = withHints(await openSqliteStore({ file, clock: systemClock, migrationsDir }), { clock: systemClock })
  onTestFinished(() => store.close())
  return { worker, dir, store }
}

async function onMysql(...args: string[]): Promise<Processes> {
  const dir = temporaryDir()
  const made = await createTestDatabase(inject('mariadbUrl'), 'pool_process')
  onTestFinished(() => made.drop())
  const worker = startWorkerProcess(made.url, '--migrate', '--artifacts', join(dir, 'artifacts'), ...args)
  await worker.untilSays(/task types/)
  const limits = { acquireTimeoutMs: 5_000, connectTimeoutMs: 5_000, statementTimeoutMs: 5_000 }
  const login = parseMysqlUrl(made.url)
  const database = await openMysql(login, { ...limits, accessMode: 'read-write', poolSize: 2, clock: systemClock })
  onTestFinished(() => database.close())
  const store = withHints(await openMysqlStore({ database, clock: systemClock }), { clock: systemClock })
  onTestFinished(() => store.close())
  return { worker, dir, store }
}

async function submit(
  store: TaskStore,
  type: string,
  payload: object,
  more: Partial<NewTaskInput> = {}
): Promise<string> {
  const task = newTask.parse({ type, payload: JSON.stringify(payload), ...more })
  const [submitted] = await store.submit([task])
  return submitted?.taskId ?? ''
}

async function untilState(store: TaskStore, id: string, state: TaskState): Promise<void> {
  // An embedded store answers without a pause: this process's own hints need one.
  while ((await store.get(id))?.state !== state) await systemClock.sleep(20)
}

async function untilStatus(store: TaskStore, status: string): Promise<void> {
  while ((await store.read()).workers[0]?.status !== status) await systemClock.sleep(20)
}

/** Its pauses double from 5 ms and are told every 200: after 1.5 s without a poll it is in one of 2.56 s or more, so another second is left of it. */
async function untilIdle(store: TaskStore, polledSince = 0): Promise<WorkerRow> {
  for (;;) {
    const { at, workers } = await store.read()
    const [worker] = workers
    const polledAt = worker?.lastPollAt ?? 0
    if (worker && polledAt > polledSince && at - polledAt > 1_500) return worker
    await systemClock.sleep(100)
  }
}

/** A task of a type that only this process takes ends while the worker is idle; returns the one that waited for it. */
async function endOfAnother(store: TaskStore): Promise<string> {
  const parent = await submit(store, 'taken-here', {})
  const waiting = await submit(store, 'sleep', { ms: 0 }, { after: [parent] })
  // It was woken to look for that one, which its next report tells.
  await untilIdle(store, (await store.get(waiting))?.createdAt)
  const [claimed] = await store.claim({ workerId: 'here', types: ['taken-here'], limit: 1, leaseMs: 60_000 })
  await store.settle([{ fence: claimed!.fence, outcome: 'SUCCESS', result: null }])
  return waiting
}

describe.each([
  ['MySQL', onMysql],
  ['SQLite', onSqlite]
])('a worker process on %s', (_name, start) => {
  it('is told of new work by another process and takes it up long before its own next poll', async () => {
    const { worker, store } = await start('--poll-ms', '600000', '--lease-ms', '600')
    const { host } = await untilIdle(store)
    expect(await store.hintPorts(host)).toHaveLength(1)
    const paused = await submit(store, 'sleep', { ms: 0 }, { held: true })
    for (const make of [
      () => submit(store, 'sleep', { ms: 0 }),
      () => store.act(paused, 'release', 'ada').then(() => paused),
      () => endOfAnother(store)
    ]) {
      await untilIdle(store)
      const id = await make()
      await untilState(store, id, 'SUCCESS')
      const [attempt] = (await store.get(id))?.attempts ?? []
      expect(attempt!.startedAt - attempt!.dueAt).toBeLessThan(1_000)
    }
    worker.child.kill('SIGTERM')
    expect(await worker.ended).toBe(0)
  })

  it('is quiet, works again and stops when another process asks, and exits with 0', async () => {
    const { worker, store } = await start('--poll-ms', '20', '--lease-ms', '600', '--id', 'asked')
    await untilStatus(store, 'running')
    expect(await store.requestWorker('asked', 'QUIET')).toBe(true)
    await untilStatus(store, 'quiet')
    const waiting = await submit(store, 'sleep', { ms: 0 })
    await worker.untilSays(/asked to claim nothing more/)
    await store.requestWorker('asked', null)
    await untilState(store, waiting, 'SUCCESS')
    await untilStatus(store, 'running')
    await store.requestWorker('asked', 'STOP')
    expect(await worker.ended).toBe(0)
    expect(worker.output()).toContain('asked to stop by another process')
    expect((await store.read()).workers).toMatchObject([{ status: 'stopped', request: 'STOP' }])
  })
})

it.skipIf(process.platform === 'win32')(
  'a process that slept through two leases stops its handlers and changes nothing (FAULTS 24)',
  async () => {
    const args = ['--lease-ms', '1000', '--recover-ms', '600000', '--poll-ms', '20', '--handlers', faultHandlers]
    const { worker, dir, store } = await onSqlite(...args)
    const notes = join(dir, 'notes')
    const retryPolicy = { kind: 'list' as const, delaysMs: [3_600_000] }
    const id = await submit(store, 'polite', { file: notes }, { retryPolicy })
    await untilState(store, id, 'RUNNING')
    const noted = (): string => {
      try {
        return readFileSync(notes, 'utf8')
      } catch {
        return ''
      }
    }
    while (!noted().includes('started')) await systemClock.sleep(20)
    worker.child.kill('SIGSTOP')
    while ((await store.recover(10)).length === 0) await systemClock.sleep(20)
    const taken = await store.get(id)
    worker.child.kill('SIGCONT')
    await worker.untilSays(/the lease of attempt 1 was lost/)
    expect(noted()).toBe('started\nlease-lost\n')
    const after = await store.get(id)
    expect(after).toEqual(taken)
    expect(after?.attempts.map(({ outcome }) => outcome)).toEqual(['LEASE_EXPIRED'])
    worker.child.kill('SIGTERM')
    expect(await worker.ended).toBe(0)
  }
)

it('makes the tasks of a schedule at its ticks, whoever made the schedule', async () => {
  const { store } = await onSqlite('--poll-ms', '20')
  await store.putSchedule({ name: 'often', cron: '* * * * * *', task: { type: 'sleep', payload: '{"ms":0}' } })
  const lastTask = async (): Promise<string | null> => (await store.schedules())[0]?.lastTaskId ?? null
  while ((await lastTask()) === null) await systemClock.sleep(20)
  const first = await lastTask()
  while ((await lastTask()) === first) await systemClock.sleep(20)
  await store.removeSchedule('often')
  await untilState(store, first ?? '', 'SUCCESS')
  const task = await store.get(first ?? '')
  expect(task!.runAt % 1_000).toBe(0)
})
