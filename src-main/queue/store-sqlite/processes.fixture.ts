/** A process of its own on a queue's file, for processes.test.ts: `submit` or `work`, one JSON line for each thing that was acknowledged. */
import { newTask, systemClock } from '../../kernel/index.ts'
import { openSqliteStore } from './sqlite-store.ts'

const [role, file, migrationsDir, workerId] = process.argv.slice(2) as [string, string, string, string]
const store = await openSqliteStore({ file, migrationsDir, clock: systemClock })
const say = (line: unknown): void => void process.stdout.write(`${JSON.stringify(line)}\n`)

async function submitForEver(): Promise<never> {
  for (;;) {
    const results = await store.submit(Array.from({ length: 5 }, () => newTask.parse({ type: 't', payload: '{}' })))
    say(results.map(({ taskId }) => taskId))
    await new Promise(setImmediate)
  }
}

async function workUntilEmpty(): Promise<void> {
  for (;;) {
    const claimed = await store.claim({ workerId, types: ['t'], limit: 7, leaseMs: 60_000 })
    if (claimed.length === 0) return store.close()
    const settled = await store.settle(claimed.map(({ fence }) => ({ fence, outcome: 'SUCCESS', result: null })))
    say(settled.filter(({ state }) => state === 'SUCCESS').map(({ fence }) => fence.taskId))
    await new Promise(setImmediate)
  }
}

await (role === 'submit' ? submitForEver() : workUntilEmpty())
