import { workerAliveMs, type WorkerRequest, type WorkerRow } from '../../kernel/index.ts'
import { clampDelay } from '../retry.ts'
import { truncateUtf8 } from '../stored-text.ts'
import type { WorkerReport } from '../task-store.ts'
import {
  checkWorkerId,
  duplicateFault,
  forgottenWorkers,
  hostText,
  mostHinted,
  mostWorkers,
  stopIsAsked,
  toRequest
} from '../worker-values.ts'
import type { QueueFile, Session } from './queue-file.ts'
import { toMicroseconds, toMs } from './task-rows.ts'

const findWorker = `
SELECT incarnation, status, request, host, pid, started_at, last_heartbeat_at FROM taskdeck_worker WHERE id = :id`

const writeWorker = `
INSERT OR REPLACE INTO taskdeck_worker (
  id, incarnation, host, pid, version, status, slots, running, threads, queued, started_at, last_heartbeat_at,
  last_poll_at, last_claim_at, claim_p50_ms, claim_p95_ms, claim_p99_ms, database_state, fault,
  request, hint_port
) VALUES (
  :id, :incarnation, :host, :pid, :version, :status, :slots, :running, :threads, :queued, :startedAt, :at,
  :lastPollAt, :lastClaimAt, :claimP50Ms, :claimP95Ms, :claimP99Ms, :database, :fault,
  :request, :hintPort
)`

const newestWorkers = `
SELECT id, host, pid, version, status, slots, running, threads, queued, started_at, last_heartbeat_at, last_poll_at,
  last_claim_at, claim_p50_ms, claim_p95_ms, claim_p99_ms, database_state, fault, request
FROM taskdeck_worker ORDER BY last_heartbeat_at DESC LIMIT ${mostWorkers}`

export const findHintPorts = `
SELECT hint_port AS port FROM taskdeck_worker INDEXED BY taskdeck_worker_heartbeat
WHERE last_heartbeat_at > :at - ${toMicroseconds(workerAliveMs)}
  AND host = :host AND hint_port IS NOT NULL AND status = 'running' LIMIT ${mostHinted}`

interface FoundWorker {
  readonly incarnation: string
  readonly status: string
  readonly request: string | null
  readonly host: string
  readonly pid: number
  readonly started_at: number
  readonly last_heartbeat_at: number
}

interface StoredWorker {
  readonly id: string
  readonly host: string
  readonly pid: number
  readonly version: string
  readonly status: WorkerRow['status']
  readonly slots: number
  readonly running: number
  readonly threads: number
  readonly queued: number
  readonly started_at: number
  readonly last_heartbeat_at: number
  readonly last_poll_at: number | null
  readonly last_claim_at: number | null
  readonly claim_p50_ms: number | null
  readonly claim_p95_ms: number | null
  readonly claim_p99_ms: number | null
  readonly database_state: string
  readonly fault: string | null
  readonly request: string | null
}

const findForgotten = `
SELECT id FROM taskdeck_worker INDEXED BY taskdeck_worker_heartbeat
WHERE last_heartbeat_at < :at - ${toMicroseconds(forgottenWorkers.stoppedForMs)}
  AND (status = 'stopped' OR last_heartbeat_at < :at - ${toMicroseconds(forgottenWorkers.silentForMs)})
ORDER BY last_heartbeat_at LIMIT ${forgottenWorkers.atOnce}`

const deleteForgotten = `DELETE FROM taskdeck_worker WHERE id IN (${findForgotten})`

export const hasForgotten = (session: Session): boolean => session.get(findForgotten, { at: session.at }) !== undefined

export function forgetWorkers(session: Session): void {
  session.run(deleteForgotten, { at: session.at })
}

const canBeAsked = `id = :id AND status <> 'stopped' AND last_heartbeat_at > :at - ${toMicroseconds(workerAliveMs)}`
const ask = `UPDATE taskdeck_worker SET request = :request WHERE ${canBeAsked}`
const findStop = `SELECT 1 FROM taskdeck_worker WHERE ${canBeAsked} AND request = 'STOP'`
const takeBack = 'UPDATE taskdeck_worker SET request = NULL WHERE id = :id'

/** Two live processes under one id overwrite each other's row; each then finds the other's incarnation there. */
export async function reportWorker(file: QueueFile, report: WorkerReport): Promise<WorkerRequest | null> {
  checkWorkerId(report.id)
  return file.write((session) => {
    const { at } = session
    const known = session.get<FoundWorker>(findWorker, { id: report.id })
    const ago = (ms: number | null): number | null => (ms === null ? null : at - toMicroseconds(clampDelay(ms)))
    const { id, incarnation, pid, status, slots, running, threads, queued } = report
    const { claimP50Ms, claimP95Ms, claimP99Ms, hintPort } = report
    const isSame = known?.incarnation === incarnation
    const request = isSame ? toRequest(known.request) : null
    const isAlive = known !== undefined && at - known.last_heartbeat_at <= toMicroseconds(workerAliveMs)
    const fault = duplicateFault(known && { ...known, isAlive }, report) ?? report.fault
    session.run(writeWorker, {
      ...{ at, id, incarnation, pid, status, slots, running, threads, queued, claimP50Ms, claimP95Ms, claimP99Ms },
      ...{ request, hintPort },
      host: hostText(report.host),
      version: truncateUtf8(report.version, 40),
      startedAt: isSame ? known.started_at : at,
      lastPollAt: ago(report.polledAgoMs),
      lastClaimAt: ago(report.claimedAgoMs),
      database: truncateUtf8(report.database, 64),
      fault: fault === null ? null : truncateUtf8(fault, 400)
    })
    return request
  })
}

export async function requestWorker(file: QueueFile, id: string, request: WorkerRequest | null): Promise<boolean> {
  checkWorkerId(id)
  return file.write((session) => {
    const { at } = session
    if (request === 'QUIET' && session.get(findStop, { id, at })) throw stopIsAsked()
    return (request === null ? session.run(takeBack, { id }) : session.run(ask, { id, request, at })).changes > 0
  })
}

export function hintPorts(file: QueueFile, host: string): Promise<number[]> {
  return file.read((session) =>
    session.all<{ port: number }>(findHintPorts, { at: session.at, host: hostText(host) }).map(({ port }) => port)
  )
}

export function listWorkers(session: Session): WorkerRow[] {
  return session.all<StoredWorker>(newestWorkers).map((row) => ({
    id: row.id,
    host: row.host,
    pid: row.pid,
    version: row.version,
    status: row.status,
    slots: row.slots,
    running: row.running,
    threads: row.threads,
    queued: row.queued,
    startedAt: row.started_at / 1000,
    lastHeartbeatAt: row.last_heartbeat_at / 1000,
    lastPollAt: toMs(row.last_poll_at),
    lastClaimAt: toMs(row.last_claim_at),
    claimP50Ms: row.claim_p50_ms,
    claimP95Ms: row.claim_p95_ms,
    claimP99Ms: row.claim_p99_ms,
    database: row.database_state,
    fault: row.fault,
    request: toRequest(row.request)
  }))
}
