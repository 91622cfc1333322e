import { hostname } from 'node:os'
import type { WorkerReport } from '../task-store.ts'
import type { ClaimLoop } from './claim-loop.ts'
import type { WorkerOptions, WorkerStatus } from './worker-options.ts'

export interface WorkerReportParts {
  readonly options: Required<WorkerOptions>
  readonly incarnation: string
  readonly status: WorkerStatus
  readonly claims: ClaimLoop
  readonly hintPort: number | null
  readonly threadsStart: boolean
}

/** What a worker says of itself with each report. */
export function workerReport(parts: WorkerReportParts): WorkerReport {
  const { options, incarnation, status, claims, hintPort, threadsStart } = parts
  const { workerId, version, clock } = options
  const { slots, running, threads, queued, database, claimLatency, droppedLogLines } = status
  const ago = (at: number | null): number | null => (at === null ? null : Math.round(clock.monotonic() - at))
  const faults = [
    threadsStart ? null : 'Its handler threads do not start: see its log.',
    claims.watch.fault(),
    droppedLogLines > 0 ? `${droppedLogLines} log lines were dropped` : null
  ]
  return {
    id: workerId,
    incarnation,
    host: hostname(),
    pid: process.pid,
    version,
    status: status.status === 'starting' ? 'running' : status.status,
    slots,
    running,
    threads,
    queued,
    claimP50Ms: claimLatency?.p50 ?? null,
    claimP95Ms: claimLatency?.p95 ?? null,
    claimP99Ms: claimLatency?.p99 ?? null,
    database,
    polledAgoMs: ago(claims.lastPollAt),
    claimedAgoMs: ago(claims.lastClaimAt),
    fault: faults.filter((fault) => fault !== null).join(' ') || null,
    hintPort
  }
}
