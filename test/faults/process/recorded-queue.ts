import { appendFileSync } from 'node:fs'
import { openWorkerQueue as openReal, type WorkerQueue } from '../../../src-main/app/worker/worker-queue.ts'
import { AppError, type Fence } from '../../../src-main/kernel/index.ts'
import type { ClaimedTask, SettleResult, Settlement, TaskStore } from '../../../src-main/queue/task-store.ts'
import type { HistoryLine } from '../client-history.ts'
import { isFirstTime } from '../handler-parts/first-time.ts'

export type { WorkerQueue }

/*
 * The real worker's queue with a recorder around it: what this process asked for and what it was told, one JSON line each, written
 * before the call and after it (kill -9 keeps the page cache). It also dies at the points that a task's payload names.
 */

const file = process.env['HISTORY_FILE']
const account = process.env['HISTORY_ACCOUNT'] ?? ''
let calls = 0
let toldToStop = false
process.prependListener('SIGTERM', () => {
  toldToStop = true
})

const note = (line: HistoryLine): void => {
  if (file !== undefined) appendFileSync(file, `${JSON.stringify(line)}\n`)
}

export async function openWorkerQueue(...args: Parameters<typeof openReal>): Promise<WorkerQueue> {
  const queue = await openReal(...args)
  return { ...queue, store: recorded(queue.store), heartbeatStore: recorded(queue.heartbeatStore) }
}

/** Every other method stays the store's own, also those that the port gets later. */
export function recorded(store: TaskStore): TaskStore {
  const replaced: Partial<TaskStore> = {
    claim: (...request) => claim(store, request),
    settle: (settlements) => settle(store, settlements),
    renew: async (...leases) => {
      const renewal = await store.renew(...leases)
      if (renewal.lost.length > 0) note({ op: 'lost', account, fences: renewal.lost.map(short) })
      return renewal
    }
  }
  return new Proxy(store, {
    get(target, name: keyof TaskStore): unknown {
      const member: unknown = replaced[name] ?? Reflect.get(target, name)
      return typeof member === 'function' ? (member.bind(target) as unknown) : member
    }
  })
}

async function claim(store: TaskStore, request: Parameters<TaskStore['claim']>): Promise<ClaimedTask[]> {
  if (toldToStop) note({ op: 'late-claim', account })
  const claimed = await store.claim(...request)
  if (claimed.length > 0) note({ op: 'claim', account, fences: claimed.map(({ fence }) => short(fence)) })
  for (const { fence, payload } of claimed) dieAt('claimed', fence, payload)
  for (const { fence, payload } of claimed) payloads.set(fence.taskId, payload)
  return claimed
}

/** Of tasks that run here: named points of death are in the payload. */
const payloads = new Map<string, string>()

async function settle(store: TaskStore, settlements: readonly Settlement[]): Promise<SettleResult[]> {
  const call = ++calls
  const asked = settlements.map(({ fence, outcome }) => ({ fence: short(fence), outcome }))
  for (const { fence } of settlements) dieAt('ending', fence, payloads.get(fence.taskId))
  note({ op: 'settle', account, pid: process.pid, call, asked })
  try {
    const results = await store.settle(settlements)
    note({ op: 'settled', account, pid: process.pid, call, states: results.map(({ state }) => state ?? null) })
    for (const { fence } of settlements) dieAt('ended', fence, payloads.get(fence.taskId))
    await repeat(store, settlements, results)
    for (const { fence } of settlements) payloads.delete(fence.taskId)
    return results
  } catch (error) {
    note({
      op: 'failed',
      account,
      pid: process.pid,
      call,
      code: error instanceof AppError ? error.code : String(error)
    })
    throw error
  }
}

/** Delivered twice (a lost reply, a resent packet): it must say the same again, unless the task went on meanwhile. */
async function repeat(
  store: TaskStore,
  settlements: readonly Settlement[],
  results: readonly SettleResult[]
): Promise<void> {
  const twice = settlements.filter(({ fence }) => payloads.get(fence.taskId)?.includes('"twice":true'))
  if (twice.length === 0) return
  const again = await store.settle(twice).catch(() => [])
  for (const { fence, state } of again) {
    const first = results.find((one) => one.fence.taskId === fence.taskId)
    note({ op: 'repeat', account, fence: short(fence), first: first?.state ?? null, again: state ?? null })
  }
}

const short = ({ taskId, attempt }: Fence): [string, number] => [taskId, attempt]

function dieAt(point: string, fence: Fence, payload: string | undefined): void {
  if (payload?.includes(`"dieAt":"${point}"`) && isFirstTime(point, fence.taskId)) process.kill(process.pid, 'SIGKILL')
}
