import { spawn, type ChildProcessByStdio } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { expect, it, onTestFinished } from 'vitest'
import { systemClock } from '../../kernel/index.ts'
import type { TaskStore } from '../task-store.ts'
import { openSqliteStore } from './sqlite-store.ts'
import { emptyQueue, migrationsDir, task } from './test-file.fixture.ts'

interface Process {
  readonly child: ChildProcessByStdio<null, Readable, null>
  /** Task ids that the process was told are safe. */
  readonly acknowledged: string[]
  readonly ended: Promise<unknown>
}

function start(role: 'submit' | 'work', file: string, workerId = 'w'): Process {
  const script = join(import.meta.dirname, 'processes.fixture.ts')
  const child = spawn(process.execPath, [script, role, file, migrationsDir, workerId], {
    stdio: ['ignore', 'pipe', 'inherit']
  })
  const acknowledged: string[] = []
  const lines = createInterface(child.stdout)
  lines.on('line', (line) => acknowledged.push(...(JSON.parse(line) as string[])))
  onTestFinished(() => void child.kill('SIGKILL'))
  return { child, acknowledged, ended: Promise.all([once(child, 'close'), once(lines, 'close')]) }
}

async function openStore(file: string): Promise<TaskStore> {
  const store = await openSqliteStore({ file, clock: systemClock, migrationsDir })
  onTestFinished(() => store.close())
  return store
}

it('four processes share one file and end each task once', { timeout: 60_000 }, async () => {
  const file = await emptyQueue()
  const store = await openStore(file)
  const total = 2_000
  await store.submit(Array.from({ length: total }, () => task()))
  const workers = Array.from({ length: 4 }, (_, i) => start('work', file, `w${i}`))
  await Promise.all(workers.map(({ ended }) => ended))
  const done = workers.flatMap(({ acknowledged }) => acknowledged)
  expect(done).toHaveLength(total)
  expect(new Set(done).size).toBe(total)
  expect(workers.map(({ child }) => child.exitCode)).toEqual([0, 0, 0, 0])
})

it('what was acknowledged survives kill -9', { timeout: 60_000 }, async () => {
  const file = await emptyQueue()
  const submitted: string[] = []
  for (let round = 0; round < 3; round++) {
    const { child, acknowledged, ended } = start('submit', file)
    await expect.poll(() => acknowledged.length, { timeout: 20_000 }).toBeGreaterThan(200)
    child.kill('SIGKILL')
    await ended
    submitted.push(...acknowledged)
  }
  const store = await openStore(file) // its check of the whole file passes
  for (const taskId of submitted) expect(await store.get(taskId)).toMatchObject({ state: 'QUEUED' })
})
