import type { QueueReading, WorkerRow } from './reading.ts'

/** What an empty queue without workers reads as, but for `changes`. */
export const emptyReading = (changes: Partial<QueueReading> = {}): QueueReading => ({
  at: 100_000,
  depth: [],
  oldest: [],
  flow: [],
  duration: null,
  pickup: null,
  workers: [],
  server: null,
  schedulesLate: null,
  costMs: 1,
  costRows: null,
  limits: [],
  ...changes
})

/** A worker whose heartbeat is as new as `emptyReading`, but for `changes`. */
export const liveWorker = (changes: Partial<WorkerRow> = {}): WorkerRow => ({
  id: 'w',
  host: 'h',
  pid: 1,
  version: '1',
  status: 'running',
  slots: 1,
  running: 0,
  threads: 1,
  queued: 0,
  startedAt: 0,
  lastHeartbeatAt: 100_000,
  lastPollAt: null,
  lastClaimAt: null,
  claimP50Ms: null,
  claimP95Ms: null,
  claimP99Ms: null,
  database: 'ok',
  fault: null,
  request: null,
  ...changes
})
