/**
 * A process of its own on a queue's file, for processes.test.ts. It says one JSON line when it is ready, begins when its input ends, and then
 * says one line for each thing that was answered.
 */
import { once } from 'node:events'
import { AppError, newTask, systemClock, type NewTask } from '../../kernel/index.ts'
import type { ClaimedTask } from '../task-store.ts'
import { openSqliteStore } from './sqlite-store.ts'

const [role, file, migrationsDir, workerId] = process.argv.slice(2) as [string, string, string, string]
const store = await openSqliteStore({ file, migrationsDir, clock: systemClock })
const say = (line: readonly string[]): void => void process.stdout.write(`${JSON.stringify(line)}\n`)
const tasks = (count: number): NewTask[] =>
  Array.from({ length: count }, () => newTask.parse({ type: 't', payload: '{}' }))

async function submitForEver(): Promise<never> {
  for (;;) {
    say((await store.submit(tasks(5))).map(({ taskId }) => taskId))
    await new Promise(setImmediate)
  }
}

const end = async (claimed: readonly ClaimedTask[]): Promise<string[]> => {
  const settled = await store.settle(claimed.map(({ fence }) => ({ fence, outcome: 'SUCCESS', result: null })))
  return settled.filter(({ state }) => state === 'SUCCESS').map(({ fence }) => fence.taskId)
}

/** Half of what it claims stays unfinished. */
async function workForEver(): Promise<never> {
  for (;;) {
    await store.submit(tasks(10))
    const claimed = await store.claim({ workerId, types: ['t'], limit: 10, leaseMs: 600_000 })
    say(claimed.map(({ fence }) => `claimed ${fence.taskId}`))
    say((await end(claimed.slice(0, 5))).map((taskId) => `ended ${taskId}`))
    await new Promise(setImmediate)
  }
}

/** What is held back by a limit is waited for. */
async function workUntilEmpty({ limit, holdMs }: { limit: number; holdMs: number }): Promise<void> {
  for (;;) {
    let isLimited = false
    const onLimited = (): void => void (isLimited = true)
    const claimed = await store.claim({ workerId, types: ['t'], limit, leaseMs: 60_000, onLimited })
    if (claimed.length === 0 && !isLimited) return
    await systemClock.sleep(holdMs)
    if (claimed.length > 0) say(await end(claimed))
  }
}

async function submitUntilRefused(): Promise<void> {
  for (;;) {
    try {
      say((await store.submit(tasks(1))).map(({ taskId }) => taskId))
    } catch (error) {
      if (error instanceof AppError && error.code === 'QUOTA_EXCEEDED') return
      throw error
    }
    await new Promise(setImmediate)
  }
}

/** Says one line for each task that it submitted. */
async function runDueSchedules(): Promise<void> {
  for (;;) {
    const { submitted, nextInMs } = await store.runSchedules()
    for (let n = 0; n < submitted.length; n++) say(['tick'])
    if (nextInMs === null || nextInMs > 0) return
  }
}

const roles: Readonly<Record<string, () => Promise<void>>> = {
  submit: submitForEver,
  claim: workForEver,
  work: () => workUntilEmpty({ limit: 7, holdMs: 0 }),
  hold: () => workUntilEmpty({ limit: 1, holdMs: 3 }),
  fill: submitUntilRefused,
  schedule: runDueSchedules
}

say([])
await once(process.stdin.resume(), 'end')
await roles[role]?.()
await store.close()
