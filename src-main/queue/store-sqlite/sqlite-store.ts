import { stat } from 'node:fs/promises'
import { AppError, type Clock } from '../../kernel/index.ts'
import { readMigrations } from '../migration-files.ts'
import { missingSchema } from '../schema-errors.ts'
import type { TaskStore } from '../task-store.ts'
import { act } from './act.ts'
import { recentAttempts } from './attempts-window.ts'
import { Claims } from './claim.ts'
import { countDeadLetters, listDeadLetters, newestDeadLetter, resolveDeadLetter, resolveStep } from './dead-letters.ts'
import { appendLog, renew, saveProgress } from './lease.ts'
import { listTasks } from './list.ts'
import { getArtifact, getTask, readLog } from './look.ts'
import { readPolicies, removePolicy, setPolicy } from './policies.ts'
import { QueueFile } from './queue-file.ts'
import { readQueue } from './read.ts'
import { recover } from './recover.ts'
import { requireReadySchema } from './schema.ts'
import { listAllSchedules, putSchedule, removeSchedule, runSchedules } from './schedules.ts'
import { settle } from './settle.ts'
import { submit } from './submit.ts'
import { hintPorts, reportWorker, requestWorker } from './workers.ts'

/** SQLite's own check reads the whole file, some 0.2 s for this many bytes. Larger files show damage when it is met. */
const checkedBytes = 64 * 1024 * 1024

export interface SqliteStoreOptions {
  readonly file: string
  readonly clock: Clock
  /** Where `0001_….sql` and its successors are: the schema must be exactly as new. */
  readonly migrationsDir: string
  /** For one who only looks: the file is not changed, whatever is called. */
  readonly inspect?: boolean
}

/**
 * The queue in an SQLite file, which several processes may use at once. An acknowledged write survives a kill of the process;
 * a power cut may take the newest ones back. Statements run in the calling thread, each for well under a millisecond at common
 * sizes. Throws AppError SCHEMA_MISSING, SCHEMA_OUTDATED, SCHEMA_NEWER, SCHEMA_BROKEN (damaged too) or FILE_UNAVAILABLE.
 */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<TaskStore> {
  const migrations = await readMigrations(options.migrationsDir)
  const bytes = await fileSize(options.file)
  if (bytes === 0) throw missingSchema(options.file)
  const file = await QueueFile.open(options)
  try {
    if (bytes <= checkedBytes && !(await file.quickCheck())) throw damagedFile(options.file)
    await file.read((session) => requireReadySchema(session, migrations, options.file))
    if (!file.isStamped && !options.inspect) await file.write(() => file.stamp())
  } catch (error) {
    await file.close()
    throw error
  }
  return storeOn(file, options.clock)
}

function storeOn(file: QueueFile, clock: Clock): TaskStore {
  const claims = new Claims(file)
  return {
    kind: 'sqlite',
    submit: (tasks) => submit(file, tasks),
    claim: (request) => claims.claim(request),
    renew: (leases) => renew(file, leases),
    saveProgress: (updates) => saveProgress(file, updates),
    appendLog: (entries) => appendLog(file, entries),
    settle: (settlements) => settle(file, settlements, clock),
    reportWorker: (report) => reportWorker(file, report),
    hintPorts: (host) => hintPorts(file, host),
    requestWorker: (id, request) => requestWorker(file, id, request),
    schedules: () => listAllSchedules(file),
    putSchedule: (schedule) => putSchedule(file, schedule),
    removeSchedule: (name) => removeSchedule(file, name),
    runSchedules: (stopped) => runSchedules(file, { submit: (tasks) => submit(file, tasks), clock, stopped }),
    policies: () => file.read(readPolicies),
    setPolicy: (policy) => setPolicy(file, policy),
    removePolicy: (scope, name) => removePolicy(file, scope, name),
    recover: (limit) => recover(file, clock, limit),
    act: (taskId, action, by) => act(file, taskId, { action, by }),
    get: (taskId) => getTask(file, taskId),
    list: (filter, limit, cursor) => listTasks(file, filter, { limit, cursor }),
    log: (taskId, afterId) => readLog(file, taskId, afterId),
    artifact: (taskId, artifactId) => getArtifact(file, taskId, artifactId),
    recentAttempts: (window) => recentAttempts(file, window),
    read: () => readQueue(file, clock),
    deadLetters: (filter, limit, cursor) => listDeadLetters(file, filter, { limit, cursor }),
    countDeadLetters: (filter, mostCounted) => countDeadLetters(file, filter, mostCounted),
    newestDeadLetter: () => newestDeadLetter(file),
    replay: (filter, range) => resolveStep(file, filter, { action: 'replay', ...range }),
    discard: (filter, range) => resolveStep(file, filter, { action: 'discard', ...range }),
    resolveDeadLetter: (id, action, by) => resolveDeadLetter(file, id, { action, by }),
    close: () => file.close()
  }
}

/** 0 when there is no file; migrations make one that is never empty. */
const fileSize = (file: string): Promise<number> =>
  stat(file).then(
    (found) => found.size,
    () => 0
  )

const damagedFile = (file: string): AppError =>
  new AppError(
    'SCHEMA_BROKEN',
    'operational',
    `${file} is damaged. Move it away, with its -wal and -shm files, to start anew.`
  )
