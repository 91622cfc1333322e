import {
  workerAliveMs,
  type SqlDatabase,
  type SqlRow,
  type SqlRunner,
  type WorkerRequest,
  type WorkerRow
} from '../../kernel/index.ts'
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
  toRequest,
  type KnownWorker
} from '../worker-values.ts'
import { anyAffected, repeatable } from './repeatable.ts'
import { count, countOrNull, microseconds, text, textOrNull, time, timeOrNull } from './row-values.ts'
import { marks, padded, perLength } from './statement-text.ts'

const lockWorker = `
SELECT incarnation, status, request, host, pid, last_heartbeat_at > NOW(6) - INTERVAL ? MICROSECOND AS alive
FROM taskdeck_worker WHERE id = ? FOR UPDATE`

const columns = `host, pid, version, status, slots, running, threads, queued, last_poll_at, last_claim_at, claim_p50_ms, claim_p95_ms,
  claim_p99_ms, database_state, fault, hint_port`

/** started_at and request are compared with the incarnation before that is replaced: assignments run from left to right. */
const writeWorker = `
INSERT INTO taskdeck_worker (id, incarnation, started_at, last_heartbeat_at, ${columns})
VALUES (?, ?, NOW(6), NOW(6), ?, ?, ?, ?, ?, ?, ?, ?, NOW(6) - INTERVAL ? MICROSECOND, NOW(6) - INTERVAL ? MICROSECOND,
  ?, ?, ?, ?, ?, ?)
ON DUPLICATE KEY UPDATE
  started_at = CASE WHEN incarnation = VALUES(incarnation) THEN started_at ELSE NOW(6) END,
  request = CASE WHEN incarnation = VALUES(incarnation) THEN request END,
  incarnation = VALUES(incarnation), last_heartbeat_at = NOW(6),
  ${columns
    .split(',')
    .map((column) => `${column.trim()} = VALUES(${column.trim()})`)
    .join(', ')}`

export const newestWorkers = `
SELECT id, started_at, last_heartbeat_at, request, ${columns} FROM taskdeck_worker FORCE INDEX (taskdeck_worker_heartbeat)
ORDER BY last_heartbeat_at DESC LIMIT ${mostWorkers}`

/** By age and host: the rows of live workers are few. */
export const findHintPorts = `
SELECT hint_port FROM taskdeck_worker FORCE INDEX (taskdeck_worker_heartbeat)
WHERE last_heartbeat_at > NOW(6) - INTERVAL ${microseconds(workerAliveMs)} MICROSECOND
  AND host = ? AND hint_port IS NOT NULL AND status = 'running' LIMIT ${mostHinted}`

const isForgotten = `last_heartbeat_at < NOW(6) - INTERVAL ${microseconds(forgottenWorkers.stoppedForMs)} MICROSECOND
  AND (status = 'stopped' OR last_heartbeat_at < NOW(6) - INTERVAL ${microseconds(forgottenWorkers.silentForMs)} MICROSECOND)`

export const findForgotten = `
SELECT id FROM taskdeck_worker FORCE INDEX (taskdeck_worker_heartbeat)
WHERE ${isForgotten} ORDER BY last_heartbeat_at LIMIT ${forgottenWorkers.atOnce}`

const deleteForgotten = perLength(
  (length) => `DELETE FROM taskdeck_worker WHERE id IN (${marks(length)}) AND ${isForgotten}`
)

/** Looks without locks first: mostly there is none. One that reports again in between stays. */
export async function forgetWorkers(database: SqlDatabase): Promise<void> {
  const ids = padded((await database.execute(findForgotten)).rows.map((row) => text(row, 'id')))
  if (ids.length === 0) return
  await anyAffected(database, deleteForgotten(ids.length), ids)
}

const canBeAsked = `id = ? AND status <> 'stopped' AND last_heartbeat_at > NOW(6) - INTERVAL ${microseconds(workerAliveMs)} MICROSECOND`
const ask = `UPDATE taskdeck_worker SET request = ? WHERE ${canBeAsked}`
/** In the statement itself, or a stop that is asked for at the same time would be lost. */
const askQuiet = `UPDATE taskdeck_worker SET request = 'QUIET' WHERE ${canBeAsked} AND (request IS NULL OR request <> 'STOP')`
const findStop = `SELECT 1 FROM taskdeck_worker WHERE ${canBeAsked} AND request = 'STOP'`
const takeBack = 'UPDATE taskdeck_worker SET request = NULL WHERE id = ?'

/** Two live processes under one id overwrite each other's row; each then finds the other's incarnation there. */
export async function reportWorker(database: SqlDatabase, report: WorkerReport): Promise<WorkerRequest | null> {
  checkWorkerId(report.id)
  const work = async (runner: SqlRunner): Promise<WorkerRequest | null> => {
    const [known] = (await runner.execute(lockWorker, [microseconds(workerAliveMs), report.id])).rows
    const fault = duplicateFault(known && toKnown(known), report) ?? report.fault
    await runner.execute(writeWorker, [
      report.id,
      truncateUtf8(report.incarnation, 64),
      hostText(report.host),
      report.pid,
      truncateUtf8(report.version, 40),
      report.status,
      report.slots,
      report.running,
      report.threads,
      report.queued,
      ago(report.polledAgoMs),
      ago(report.claimedAgoMs),
      report.claimP50Ms,
      report.claimP95Ms,
      report.claimP99Ms,
      truncateUtf8(report.database, 64),
      fault === null ? null : truncateUtf8(fault, 400),
      report.hintPort
    ])
    return known && text(known, 'incarnation') === report.incarnation ? toRequest(known['request']) : null
  }
  return database.transaction(work, repeatable)
}

export async function requestWorker(
  database: SqlDatabase,
  id: string,
  request: WorkerRequest | null
): Promise<boolean> {
  checkWorkerId(id)
  if (request === 'QUIET') return requestQuiet(database, id)
  return request === null ? anyAffected(database, takeBack, [id]) : anyAffected(database, ask, [request, id])
}

async function requestQuiet(database: SqlDatabase, id: string): Promise<boolean> {
  if (await anyAffected(database, askQuiet, [id])) return true
  if ((await database.execute(findStop, [id])).rows.length > 0) throw stopIsAsked()
  return false
}

export async function hintPorts(database: SqlDatabase, host: string): Promise<number[]> {
  const { rows } = await database.execute(findHintPorts, [hostText(host)])
  return rows.map((row) => count(row, 'hint_port'))
}

const ago = (ms: number | null): number | null => (ms === null ? null : microseconds(clampDelay(ms)))

const toKnown = (row: SqlRow): KnownWorker => ({
  incarnation: text(row, 'incarnation'),
  status: text(row, 'status'),
  isAlive: count(row, 'alive') === 1,
  pid: count(row, 'pid'),
  host: text(row, 'host')
})

export function toWorker(row: SqlRow): WorkerRow {
  return {
    id: text(row, 'id'),
    host: text(row, 'host'),
    pid: count(row, 'pid'),
    version: text(row, 'version'),
    status: text(row, 'status') as WorkerRow['status'],
    slots: count(row, 'slots'),
    running: count(row, 'running'),
    threads: count(row, 'threads'),
    queued: count(row, 'queued'),
    startedAt: time(row, 'started_at'),
    lastHeartbeatAt: time(row, 'last_heartbeat_at'),
    lastPollAt: timeOrNull(row, 'last_poll_at'),
    lastClaimAt: timeOrNull(row, 'last_claim_at'),
    claimP50Ms: countOrNull(row, 'claim_p50_ms'),
    claimP95Ms: countOrNull(row, 'claim_p95_ms'),
    claimP99Ms: countOrNull(row, 'claim_p99_ms'),
    database: text(row, 'database_state'),
    fault: textOrNull(row, 'fault'),
    request: toRequest(row['request'])
  }
}
