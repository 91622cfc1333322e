import { spawn, type ChildProcessByStdio } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { describe, expect, it, onTestFinished } from 'vitest'
import { mostAtOnce, type HeldLease } from '../../../test/conformance/lease-history.ts'
import { systemClock } from '../../kernel/index.ts'
import type { TaskStore } from '../task-store.ts'
import { QueueFile } from './queue-file.ts'
import { openSqliteStore } from './sqlite-store.ts'
import { emptyQueue, migrationsDir, task } from './test-file.fixture.ts'

type Role = 'submit' | 'claim' | 'work' | 'hold' | 'fill' | 'schedule'

interface Process {
  readonly child: ChildProcessByStdio<Writable, Readable, null>
  /** What the process was told is safe. */
  readonly acknowledged: string[]
  readonly ended: Promise<unknown>
}

/** All of them begin when the last one is ready. */
async function start(role: Role, file: string, workerIds: readonly string[]): Promise<Process[]> {
  const script = join(import.meta.dirname, 'processes.fixture.ts')
  const started = workerIds.map((workerId) => {
    const child = spawn(process.execPath, [script, role, file, migrationsDir, workerId], {
      stdio: ['pipe', 'pipe', 'inherit']
    })
    const acknowledged: string[] = []
    const lines = createInterface(child.stdout)
    lines.on('line', (line) => acknowledged.push(...(JSON.parse(line) as string[])))
    onTestFinished(() => void child.kill('SIGKILL'))
    const ended = Promise.all([once(child, 'close'), once(lines, 'close')])
    return { child, acknowledged, ended, isReady: once(lines, 'line') }
  })
  await Promise.all(started.map(({ isReady }) => isReady))
  for (const { child } of started) child.stdin.end()
  return started
}

const fourIds = ['w0', 'w1', 'w2', 'w3']

/** Four processes at once, to their end; returns what each was told. */
async function raceOfFour(role: Role, file: string): Promise<string[][]> {
  const processes = await start(role, file, fourIds)
  await Promise.all(processes.map(({ ended }) => ended))
  expect(processes.map(({ child }) => child.exitCode)).toEqual([0, 0, 0, 0])
  return processes.map(({ acknowledged }) => acknowledged)
}

/** What three processes, one after the other, were told before they were killed. */
async function toldBeforeKills(role: Role, file: string): Promise<string[]> {
  const told: string[] = []
  for (const workerId of ['w0', 'w1', 'w2']) {
    const [{ child, acknowledged, ended }] = (await start(role, file, [workerId])) as [Process]
    await expect.poll(() => acknowledged.length, { timeout: 20_000 }).toBeGreaterThan(200)
    child.kill('SIGKILL')
    await ended
    told.push(...acknowledged)
  }
  return told
}

async function openStore(file: string): Promise<TaskStore> {
  const store = await openSqliteStore({ file, clock: systemClock, migrationsDir })
  onTestFinished(() => store.close())
  return store
}

async function openFile(file: string): Promise<QueueFile> {
  const opened = await QueueFile.open({ file, clock: systemClock })
  onTestFinished(() => opened.close())
  return opened
}

const findLeases = 'SELECT type, started_at AS startedAt, ended_at AS endedAt FROM taskdeck_attempt'

/** Tasks of one type that four processes held at one instant. */
async function mostHeld({ maxRunning }: { readonly maxRunning: number | null }): Promise<number> {
  const file = await emptyQueue()
  const store = await openStore(file)
  await store.setPolicy({ scope: 'TYPE', name: 't', maxRunning })
  await store.submit(Array.from({ length: 80 }, () => task()))
  expect((await raceOfFour('hold', file)).flat()).toHaveLength(80)
  const direct = await openFile(file)
  const leases = await direct.read((session) => session.all<Omit<HeldLease, 'owner'>>(findLeases))
  return mostAtOnce(leases.map((lease) => ({ ...lease, owner: '' })))
}

describe('four processes that share one file', { timeout: 60_000 }, () => {
  it('end each task once', async () => {
    const file = await emptyQueue()
    const store = await openStore(file)
    const total = 1_000
    await store.submit(Array.from({ length: total }, () => task()))
    const done = (await raceOfFour('work', file)).flat()
    expect(done).toHaveLength(total)
    expect(new Set(done).size).toBe(total)
  })

  it('hold no more tasks of a type at once than its limit', async () => {
    expect(await mostHeld({ maxRunning: 2 })).toBe(2)
  })

  it('are kept apart by the limit: without one the same claimers overlap', async () => {
    expect(await mostHeld({ maxRunning: null })).toBeGreaterThan(2)
  })

  it('fill a quota exactly', async () => {
    const file = await emptyQueue()
    const store = await openStore(file)
    await store.setPolicy({ scope: 'TYPE', name: 't', maxUnfinished: 100 })
    const submitted = (await raceOfFour('fill', file)).flat()
    expect(new Set(submitted).size).toBe(100)
    expect(await store.read()).toMatchObject({ depth: [{ type: 't', state: 'QUEUED', count: 100 }] })
  })

  it('submit one task for each tick of a schedule', async () => {
    const file = await emptyQueue()
    const store = await openStore(file)
    const minute = 60_000_000
    await store.putSchedule({ name: 's', cron: '* * * * *', misfire: 'ALL', task: { type: 't', payload: '{}' } })
    const direct = await openFile(file)
    await direct.write((session) => {
      const nextAt = (Math.floor(session.at / minute) - 60) * minute
      session.run('UPDATE taskdeck_schedule SET next_at = :nextAt', { nextAt })
    })
    const submitted = (await raceOfFour('schedule', file)).flat()
    const ticks = await direct.read((session) => session.all<{ run_at: number }>('SELECT run_at FROM taskdeck_task'))
    expect(submitted).toHaveLength(ticks.length)
    expect(new Set(ticks.map(({ run_at }) => run_at)).size).toBe(ticks.length)
    // One more, or two, when a minute passed meanwhile.
    expect(ticks.length).toBeGreaterThanOrEqual(61)
    expect(ticks.length).toBeLessThanOrEqual(63)
  })
})

describe('what was answered survives kill -9', { timeout: 60_000 }, () => {
  it('of a process that submits', async () => {
    const file = await emptyQueue()
    const submitted = await toldBeforeKills('submit', file)
    const store = await openStore(file) // its check of the whole file passes
    for (const taskId of submitted) expect(await store.get(taskId)).toMatchObject({ state: 'QUEUED' })
  })

  it('of a process that claims and ends tasks', async () => {
    const file = await emptyQueue()
    const told = (await toldBeforeKills('claim', file)).map((line) => line.split(' ') as [string, string])
    const idsOf = (event: string): string[] => told.flatMap(([what, taskId]) => (what === event ? [taskId] : []))
    const store = await openStore(file)
    const ended = new Set(idsOf('ended'))
    for (const taskId of ended)
      expect(await store.get(taskId)).toMatchObject({ state: 'SUCCESS', attempts: [{ outcome: 'SUCCESS' }] })
    const running = idsOf('claimed').filter((taskId) => !ended.has(taskId))
    const states = new Set<string>()
    for (const taskId of running) {
      const detail = await store.get(taskId)
      expect(detail).toMatchObject({ attempt: 1, attemptsUsed: 1 })
      states.add(detail!.state)
    }
    // One whose end was not answered any more may have ended.
    expect([...states].filter((state) => state !== 'SUCCESS')).toEqual(['RUNNING'])
  })
})
