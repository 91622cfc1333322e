import type { QueueReading, WorkerRequest, WorkerRow } from '@contract'

/** A worker reads what was asked of it with its next heartbeat, ms. */
const followsAfterMs = 4_000

/** What was asked of the workers of one queue, and what they make of it. */
export class DemoRequests {
  private readonly asked = new Map<string, { request: WorkerRequest | null; before: WorkerRow['status']; at: number }>()

  ask(worker: string, request: WorkerRequest | null, at: number): void {
    const known = this.asked.get(worker)
    const before = known ? statusOf(known.request, known.before, at - known.at) : 'running'
    this.asked.set(worker, { request, before, at })
  }

  seenIn(reading: QueueReading): QueueReading {
    return {
      ...reading,
      workers: reading.workers.map((row) => {
        const known = this.asked.get(row.id)
        if (!known) return row
        const { request, before, at } = known
        return { ...row, request, status: statusOf(request, before, reading.at - at) }
      })
    }
  }
}

function statusOf(request: WorkerRequest | null, before: WorkerRow['status'], sinceMs: number): WorkerRow['status'] {
  if (sinceMs < followsAfterMs) return before
  if (request === 'STOP') return 'stopped'
  return request === 'QUIET' ? 'quiet' : 'running'
}
