import { z } from 'zod'
import { taskId, taskState } from './task.ts'

/*
 * What is seen of the database under a queue: who waits for whom, what slows claims down, how large things are. Texts of others'
 * statements come without their literals; nothing here is a value of a row but the ids of tasks.
 */

/** Why a part could not be read. */
export const healthGap = z.object({
  /** `rights`: the account may not; `off`: the server does not keep it; `large`: looking would cost too much. */
  reason: z.enum(['rights', 'off', 'large', 'timeout', 'failed']),
  /** A statement for an administrator after which it could be read; null when there is none. */
  remedy: z.string().nullable(),
  /** The server's number of the error; null when there was none. */
  errno: z.int().nullable()
})
export type HealthGap = z.infer<typeof healthGap>

/** Known since `at` (the app's clock), or unknown and why. Parts are read at different times: dear ones seldom. */
const partOf = <T extends z.ZodType>(value: T) =>
  z.discriminatedUnion('status', [
    z.object({ status: z.literal('known'), at: z.number(), value }),
    z.object({ status: z.literal('unknown'), gap: healthGap })
  ])
export type HealthPart<T> =
  | { readonly status: 'known'; readonly at: number; readonly value: T }
  | { readonly status: 'unknown'; readonly gap: HealthGap }

/** `good` is well for a queue, `info` is neither, `look` may hurt, `bad` does. */
export const healthVerdict = z.enum(['good', 'info', 'look', 'bad'])
export type HealthVerdict = z.infer<typeof healthVerdict>

/** Advice in the page's language is found by this code. */
export const settingAdvice = z.enum([
  'commitsDurable',
  'commitsMayBeLost',
  'binlogDurable',
  'binlogMayBeLost',
  'isolationOfOthers',
  'statementBinlog',
  'deadlocksUnseen',
  'poolTooSmall',
  'poolHolds',
  'sessionsScarce',
  'noChanges',
  'lockWaitLong'
])
export type SettingAdvice = z.infer<typeof settingAdvice>

export const serverSetting = z.object({
  name: z.string(),
  /** As the server says it; sizes in bytes. */
  value: z.string(),
  verdict: healthVerdict,
  advice: settingAdvice.nullable()
})
export type ServerSetting = z.infer<typeof serverSetting>

/** The server's own counters since its start. null: this server has no such counter. */
export const serverCounters = z.object({
  sessions: z.int(),
  mostSessions: z.int(),
  /** The most there ever were at once. */
  peakSessions: z.int().nullable(),
  running: z.int().nullable(),
  rowLockWaits: z.number().nullable(),
  rowLockTimeMs: z.number().nullable(),
  deadlocks: z.number().nullable(),
  uptimeMs: z.number().nullable()
})
export type ServerCounters = z.infer<typeof serverCounters>

/** Sessions of one account, of those that this account may see. */
export const accountSessions = z.object({ account: z.string(), sessions: z.int(), active: z.int() })
export type AccountSessions = z.infer<typeof accountSessions>

/** How a session was tied to a worker: by the lease of the row that it meets, by its host, or not at all. */
export const workerTie = z.enum(['lease', 'host', 'none'])
export type WorkerTie = z.infer<typeof workerTie>

/** One open transaction and the session that it belongs to. */
export const openTransaction = z.object({
  sessionId: z.string(),
  /** null: the account may not see it. */
  account: z.string().nullable(),
  host: z.string().nullable(),
  /** Since it began; the server counts in seconds. */
  ageMs: z.number(),
  waiting: z.boolean(),
  /** It runs no statement: whoever opened it thinks, or has forgotten it. null is unknown. */
  idle: z.boolean().nullable(),
  isolation: z.string().nullable(),
  rowsLocked: z.number(),
  rowsChanged: z.number(),
  /** Without literals; null when it runs none or nothing may be told of it. */
  statement: z.string().nullable(),
  /** It may be one of these; exactly one is as good as known. */
  workers: z.array(z.string()),
  tie: workerTie
})
export type OpenTransaction = z.infer<typeof openTransaction>

/** A task whose row is what somebody waits for. */
export const lockedTask = z.object({
  taskId,
  /** null when the row is gone or not readable. */
  type: z.string().nullable(),
  state: taskState.nullable(),
  workerId: z.string().nullable()
})
export type LockedTask = z.infer<typeof lockedTask>

export const lockWait = z.object({
  waiting: openTransaction,
  blocking: openTransaction,
  /** null: the server does not say since when. */
  waitedMs: z.number().nullable(),
  table: z.string().nullable(),
  index: z.string().nullable(),
  mode: z.string().nullable(),
  /** null: the lock is on no task's row, or the server does not tell which. */
  task: lockedTask.nullable()
})
export type LockWait = z.infer<typeof lockWait>

export const transactionsPicture = z.object({
  /** The oldest first, at most 100. */
  open: z.array(openTransaction),
  /** There are more than are listed. */
  more: z.boolean(),
  /** Changes whose old row versions are not purged yet: claims walk over them. null is unknown. */
  unpurged: z.number().nullable()
})
export type TransactionsPicture = z.infer<typeof transactionsPicture>

export const deadlockParty = z.object({
  sessionId: z.string().nullable(),
  account: z.string().nullable(),
  host: z.string().nullable(),
  /** The first word of its statement, and whether it claimed; null when it could not be told. */
  verb: z.string().nullable(),
  claims: z.boolean(),
  rolledBack: z.boolean(),
  waitsFor: z.object({ table: z.string(), index: z.string().nullable(), mode: z.string() }).nullable(),
  task: lockedTask.nullable(),
  workers: z.array(z.string()),
  tie: workerTie
})
export type DeadlockParty = z.infer<typeof deadlockParty>

export const lastDeadlock = z.object({
  /** By the server's own two stamps; null when they could not be read. */
  agoMs: z.number().nullable(),
  parties: z.array(deadlockParty)
})
export type LastDeadlock = z.infer<typeof lastDeadlock>

export const planAdvice = z.enum([
  'inOrder',
  'jumps',
  'byKey',
  'indexMissing',
  'otherIndex',
  'noIndex',
  'sorts',
  'temporary',
  'notPlanned'
])
export type PlanAdvice = z.infer<typeof planAdvice>

/** One statement of the claim path and how the server would run it. */
export const statementPlan = z.object({
  /** What it is for: looking for groups with due tasks, locking those of a group, or of one owner in it. */
  name: z.enum(['groups', 'claim', 'claimOwner']),
  /** Our own text. */
  sql: z.string(),
  /** It locks, and was planned without its lock: a session that only reads may not plan one. */
  withoutLock: z.boolean(),
  steps: z.array(
    z.object({ access: z.string(), key: z.string().nullable(), rows: z.number().nullable(), extra: z.string() })
  ),
  verdict: healthVerdict,
  advice: planAdvice,
  /** SQL that mends it; null when nothing is to be mended. */
  remedy: z.string().nullable(),
  gap: healthGap.nullable()
})
export type StatementPlan = z.infer<typeof statementPlan>

/** By the server's statistics: about. */
export const tableSize = z.object({
  name: z.string(),
  rows: z.number().nullable(),
  dataBytes: z.number(),
  indexBytes: z.number(),
  /** Allocated and unused; null where it is not told by table. */
  freeBytes: z.number().nullable()
})
export type TableSize = z.infer<typeof tableSize>

export const indexSize = z.object({ table: z.string(), name: z.string(), bytes: z.number() })
export type IndexSize = z.infer<typeof indexSize>

/** One channel through which this server follows another one. */
export const replicaChannel = z.object({
  name: z.string(),
  /** null: it does not run, or does not know. */
  lagMs: z.number().nullable(),
  reads: z.boolean(),
  applies: z.boolean(),
  /** Number of the error that stopped it; 0 is none. */
  errno: z.int()
})
export type ReplicaChannel = z.infer<typeof replicaChannel>

export const serverHealth = z.object({
  kind: z.literal('mysql'),
  at: z.number(),
  /** What this look cost: statements, and the time that they took together. */
  costMs: z.number(),
  statements: z.int(),
  flavour: z.enum(['mysql', 'mariadb']),
  version: z.string(),
  counters: partOf(serverCounters),
  settings: partOf(z.array(serverSetting)),
  accounts: partOf(z.array(accountSessions)),
  waits: partOf(z.array(lockWait)),
  transactions: partOf(transactionsPicture),
  /** null: none since the server started. */
  deadlock: partOf(lastDeadlock.nullable()),
  plans: z.array(statementPlan),
  tables: partOf(z.array(tableSize)),
  indexes: partOf(z.array(indexSize)),
  /** Empty: it follows no other server. */
  replicas: partOf(z.array(replicaChannel))
})
export type ServerHealth = z.infer<typeof serverHealth>

export const fileHealth = z.object({
  kind: z.literal('sqlite'),
  at: z.number(),
  costMs: z.number(),
  version: z.string(),
  fileBytes: z.number(),
  walBytes: z.number(),
  pageBytes: z.int(),
  pages: z.int(),
  /** Unused: filled before the file grows. */
  freePages: z.int(),
  journalMode: z.string(),
  plans: z.array(statementPlan),
  tables: partOf(z.array(tableSize)),
  indexes: partOf(z.array(indexSize))
})
export type FileHealth = z.infer<typeof fileHealth>

export const databaseHealth = z.discriminatedUnion('kind', [serverHealth, fileHealth])
export type DatabaseHealth = z.infer<typeof databaseHealth>
