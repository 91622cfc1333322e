import { z } from 'zod'
import { taskState } from './task.ts'

/** What another process may ask a worker for: to claim nothing more and finish what runs; to stop, with its grace. */
export const workerRequest = z.enum(['QUIET', 'STOP'])
export type WorkerRequest = z.infer<typeof workerRequest>

/** What one worker process last said about itself. Times are the database's, milliseconds since the epoch. */
export const workerRow = z.object({
  id: z.string(),
  host: z.string(),
  pid: z.int(),
  version: z.string(),
  /** `quiet`: it was asked to claim nothing more; running tasks go on. */
  status: z.enum(['running', 'quiet', 'stopping', 'stopped']),
  slots: z.int(),
  /** Tasks that it holds: each takes a slot until it has ended. */
  running: z.int(),
  /** Handler threads alive. */
  threads: z.int(),
  /** Of these, claimed and not yet begun, those already handed to a thread included. */
  queued: z.int(),
  startedAt: z.number(),
  lastHeartbeatAt: z.number(),
  lastPollAt: z.number().nullable(),
  lastClaimAt: z.number().nullable(),
  claimP50Ms: z.number().nullable(),
  claimP95Ms: z.number().nullable(),
  claimP99Ms: z.number().nullable(),
  /** `ok`, or the code of the last database error. */
  database: z.string(),
  /** Faults the worker or its store noticed, such as a second process under its id. */
  fault: z.string().nullable(),
  /** What was asked of it, whether it has followed yet or not. */
  request: workerRequest.nullable().default(null)
})
export type WorkerRow = z.infer<typeof workerRow>

export const percentiles = z.object({ p50: z.number(), p95: z.number(), p99: z.number() })
export type Percentiles = z.infer<typeof percentiles>

/** Flow of one type. Rates are over the window the name says; null is unknown, never zero. */
export const typeFlow = z.object({
  type: z.string(),
  submitted1m: z.number(),
  finished1m: z.number(),
  /** Attempts that ended in the last 5 min, hand-backs left out; and of these: failed for good, to be retried, lost. */
  ended5m: z.number(),
  failed5m: z.number(),
  retried5m: z.number(),
  recovered5m: z.number(),
  /** Milliseconds, over at most the newest 1,000 attempts of the last 5 min; null when none ended. */
  duration: percentiles.nullable(),
  pickup: percentiles.nullable()
})
export type TypeFlow = z.infer<typeof typeFlow>

/**
 * How a count was got: by counting all, by counting up to a limit (there are at least so many), or from the server's statistics
 * (there are about so many).
 */
export const accuracy = z.enum(['exact', 'atLeast', 'about'])
export type Accuracy = z.infer<typeof accuracy>

/** What the server tells about itself by SQL; null is unknown. Counters grow from its start on. */
export const serverLoad = z.object({
  sessions: z.int(),
  mostSessions: z.int(),
  threadsRunning: z.int().nullable(),
  rowLockWaits: z.int().nullable(),
  rowLockTimeMs: z.number().nullable()
})
export type ServerLoad = z.infer<typeof serverLoad>

/** A figure that the cost guard did not let through as asked, and what would help. */
export const probeLimit = z.object({
  probe: z.string(),
  /**
   * Over the limit of time; a plan that reads too much; the budget is spent; the account may not; the server is slow; a table that is not
   * ours never says (`schema`), or some of its rows do not now (`data`).
   */
  reason: z.enum(['timeout', 'plan', 'budget', 'rights', 'slow', 'schema', 'data']),
  /** The index that would make it exact, as SQL; null when an index is not what is missing. */
  index: z.string().nullable(),
  /** Of `schema` and `data`: what the table or its rows lack, in words. */
  why: z.string().optional()
})
export type ProbeLimit = z.infer<typeof probeLimit>

/** One look at a queue, taken by the store's probes with the database's clock. */
export const queueReading = z.object({
  at: z.number(),
  /** States in which a task still waits or runs. */
  depth: z.array(
    z.object({
      type: z.string(),
      state: taskState,
      count: z.number(),
      /** Left out: exact. */ accuracy: accuracy.optional()
    })
  ),
  /** Due and not yet claimed, the longest first, one per type. Age counts from when it became due. In a table that is not ours an id may be any text. */
  oldest: z.array(z.object({ type: z.string(), taskId: z.string(), ageMs: z.number() })),
  flow: z.array(typeFlow),
  /** Over all types. */
  duration: percentiles.nullable(),
  pickup: percentiles.nullable(),
  workers: z.array(workerRow),
  /** null for a queue in a file, or where the account may not ask. */
  server: serverLoad.nullable().default(null),
  /** Schedules whose tick is more than a minute late; null is unknown. */
  schedulesLate: z.int().nullable().default(null),
  /** Milliseconds the probes took. */
  costMs: z.number(),
  /** Rows that the server read for them; null where it does not tell. */
  costRows: z.number().nullable().default(null),
  /** What the cost guard held back or cut short, empty when all figures are as asked. */
  limits: z.array(probeLimit).default([])
})
export type QueueReading = z.infer<typeof queueReading>

/** Readings of a database that answers are at most this far apart: dear ones are made seldom. */
export const slowestReadingMs = 30_000
/** A longer silence is a gap. A shorter one cannot be told from a slow pace. */
export const silenceMs = 1.5 * slowestReadingMs

/** A worker is alive when its heartbeat is younger than this. */
export const workerAliveMs = 30_000

/** Names of the series that history keeps. `type` '' is the whole queue. */
export const metricNames = [
  'depth.CREATED',
  'depth.QUEUED',
  'depth.RETRY_WAIT',
  'depth.PAUSED',
  'depth.RUNNING',
  'depth.CANCEL_REQUESTED',
  'depth',
  'oldestMs',
  'in1m',
  'out1m',
  'failureRate',
  'retryRate',
  'recovered5m',
  'ended5m',
  'duration.p50',
  'duration.p95',
  'duration.p99',
  'pickup.p50',
  'pickup.p95',
  'pickup.p99',
  'workersAlive',
  'workersKnown',
  'poolUse',
  'claimP95',
  'databaseUse',
  'threadsRunning',
  'schedulesLate',
  'monitorMs',
  'monitorRows'
] as const
export const metricName = z.enum(metricNames)
export type MetricName = z.infer<typeof metricName>

/** One value at one time. Rates are fractions (0 to 1). A missing point is unknown. */
export const point = z.object({ metric: metricName, type: z.string(), value: z.number() })
export type Point = z.infer<typeof point>
