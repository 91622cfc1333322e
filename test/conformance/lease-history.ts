import type { ClaimedTask, TaskStore } from '../../src-main/queue/task-store.ts'
import type { QueueUnderTest } from './queue-under-test.ts'

/** One ended attempt, in microseconds by the database's clock. */
export interface HeldLease {
  readonly type: string
  readonly owner: string
  readonly startedAt: number
  readonly endedAt: number
}

/**
 * When each lease was taken and given back, as the database recorded it. The claim's time is that of the statement that takes the task,
 * the end's that of the statement that ends the attempt, so leases that overlap were held at once.
 */
export async function leaseHistory(queue: QueueUnderTest): Promise<HeldLease[]> {
  const rows = await queue.sql(`
    SELECT task.type, task.owner, attempt.started_at, attempt.ended_at
    FROM taskdeck_attempt attempt JOIN taskdeck_task task ON task.id = attempt.task_id`)
  return rows.map((row) => ({
    type: String(row['type']),
    owner: String(row['owner']),
    startedAt: microseconds(row['started_at']),
    endedAt: microseconds(row['ended_at'])
  }))
}

/** A time column: SQLite keeps microseconds; MySQL's text has six digits after the second. */
export function microseconds(value: unknown): number {
  if (typeof value !== 'string') return Number(value)
  return Date.parse(`${value.slice(0, 19).replace(' ', 'T')}Z`) * 1000 + Number(value.slice(20, 26))
}

/** The most leases held at one instant, of those that began at `since` or later. */
export function mostAtOnce(leases: readonly HeldLease[], since = 0): number {
  const events = leases.flatMap(({ startedAt, endedAt }) => [
    { at: startedAt, change: 1 },
    { at: endedAt, change: -1 }
  ])
  events.sort((a, b) => a.at - b.at || a.change - b.change)
  let held = 0
  let most = 0
  for (const { at, change } of events) {
    held += change
    if (change > 0 && at >= since) most = Math.max(most, held)
  }
  return most
}

/** The most that began in any window of this length, wherever it begins. */
export function mostStarted(leases: readonly HeldLease[], windowMs: number): number {
  const starts = leases.map(({ startedAt }) => startedAt).sort((a, b) => a - b)
  let first = 0
  let most = 0
  for (const [index, start] of starts.entries()) {
    while ((starts[first] ?? 0) <= start - windowMs * 1000) first++
    most = Math.max(most, index - first + 1)
  }
  return most
}

export interface Race {
  readonly types: readonly string[]
  readonly total: number
  /** Of one claim. */
  readonly limit: number
  /** While the tasks are held. Default: they end at once. */
  readonly hold?: (claimed: readonly ClaimedTask[]) => Promise<void>
}

/** Claims and ends tasks on all stores at once until `total` have ended or 50 s passed. Returns how many ended. */
export async function race(stores: readonly TaskStore[], { types, total, limit, hold }: Race): Promise<number> {
  let ended = 0
  const end = Date.now() + 50_000
  const work = async (store: TaskStore, index: number): Promise<void> => {
    while (ended < total && Date.now() < end) {
      const claimed = await store.claim({ workerId: `w${index}`, types, limit, leaseMs: 60_000 })
      await hold?.(claimed)
      const settled = await store.settle(
        claimed.map(({ fence }) => ({ fence, outcome: 'SUCCESS', result: null }) as const)
      )
      ended += settled.filter(({ state }) => state === 'SUCCESS').length
      await new Promise(setImmediate)
    }
  }
  await Promise.all(stores.map(work))
  return ended
}
