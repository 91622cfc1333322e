import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { openWorkerQueue } from '../../../src-main/app/worker/worker-queue.ts'
import { parseMysqlUrl } from '../../../src-main/connections/index.ts'
import { systemClock } from '../../../src-main/kernel/index.ts'
import { createWorker, newWorkerId } from '../../../src-main/queue/pool/index.ts'
import type { TaskStore } from '../../../src-main/queue/task-store.ts'
import { RawLoop } from '../raw-loop.ts'
import { benchTask, type FromProcess, type ToProcess } from './protocol.ts'

/*
 * One worker process of the bench: the worker that `npm run worker` starts, with all its defaults, and in the same process the raw
 * loops, so that both have the same processes and the same connections. One of them works at a time, or none.
 */

const url = process.env['TASKDECK_CONNECTION'] ?? ''
const clock = systemClock
let claims = false
let raw: { readonly stop: AbortController; readonly ended: Promise<unknown> } | undefined

const tell = (message: FromProcess): void => void process.send?.(message)

const queue = await openWorkerQueue(parseMysqlUrl(url), '', {
  clock,
  migrationsDir: join(resolve(import.meta.dirname, '../../..'), 'migrations')
})
const worker = createWorker({
  store: watched(queue.store),
  heartbeatStore: queue.heartbeatStore,
  clock,
  workerId: newWorkerId(),
  version: '0.0.0',
  slots: 1,
  handlers: { builtIn: true, dir: null },
  artifactDir: join(tmpdir(), 'taskdeck-bench-artifacts')
})
// The worker has one connection for claims and one for ends, and so have the raw loops.
const loops = [await RawLoop.open(url, benchTask), await RawLoop.open(url, benchTask)]

process.on('message', (message: ToProcess) => void obey(message))
// Nobody would end it when its parent was killed.
process.on('disconnect', () => process.exit(1))
await worker.start()
tell({ kind: 'ready' })

async function obey(message: ToProcess): Promise<void> {
  claims = false
  raw?.stop.abort()
  await raw?.ended
  raw = undefined
  if (message.mode === 'stop') return stop()
  if (message.mode === 'engine') {
    worker.resize(message.batch)
    claims = true
    worker.nudge()
  }
  if (message.mode === 'raw') raw = startRaw(message.batch)
  tell({ kind: 'ready' })
}

async function stop(): Promise<void> {
  await worker.stop()
  await Promise.all(loops.map((loop) => loop.close()))
  await queue.close()
  process.exit(0)
}

/** As many tasks at once as the worker has slots: half of them on each connection, which was measured to be the faster way from two on. */
function startRaw(batch: number): NonNullable<typeof raw> {
  const stopping = new AbortController()
  const shares = batch === 1 ? [1] : [Math.ceil(batch / 2), Math.floor(batch / 2)]
  const running = loops
    .slice(0, shares.length)
    .map((loop, index) => loop.run(shares[index] ?? 1, stopping.signal, (count) => tell({ kind: 'done', count })))
  return { stop: stopping, ended: Promise.all(running) }
}

/** Claims nothing while it is not its turn, and tells what it ended. */
function watched(store: TaskStore): TaskStore {
  const own: Pick<TaskStore, 'claim' | 'settle'> = {
    claim: (request) => (claims ? store.claim(request) : Promise.resolve([])),
    settle: async (settlements) => {
      const results = await store.settle(settlements)
      tell({ kind: 'done', count: results.filter(({ state }) => state === 'SUCCESS').length })
      return results
    }
  }
  return new Proxy(store, {
    get(target, name) {
      const value: unknown = Reflect.get(name in own ? own : target, name)
      return typeof value === 'function' ? (value.bind(target) as unknown) : value
    }
  })
}
