import type { ProbeLimit, QueueReading, ServerLoad } from './reading.ts'
import type { SqlRow, SqlValue } from './sql.ts'

/*
 * The port between what wants to look at a database and what decides whether it may: stores word their probes and know the index that
 * serves each; `monitoring` knows plans, limits and the budget. Neither knows the other.
 */

/** The figures of a reading. Each may be held back alone; `limits` of the reading then names it. */
export const probeNames = [
  'depth',
  'depthByType',
  'oldest',
  'submitted',
  'finished',
  'ended',
  'retries',
  'durations',
  'workers',
  'schedules',
  'server'
] as const
export type ProbeName = (typeof probeNames)[number]

/** One statement that looks and changes nothing. Its text comes from a small closed set: plans are remembered by it. */
export interface Probe {
  /** The figure that it serves, one of `probeNames` in a reading. Several statements may serve one. */
  readonly name: string
  readonly sql: string
  /** The tables that it reads; none for what has no plan, such as SHOW. */
  readonly tables: readonly string[]
  /** The index that makes it cheap, as SQL; null when none would. */
  readonly index: string | null
  /** All that it reads is in `index`. A plan that looks rows up uses another one, and reads on past rows that do not fit, whatever its LIMIT. */
  readonly readsIndexOnly?: boolean
  /** Rows that do not fit lie between those that do, so that a LIMIT does not bound what is read: all that the server expects to read counts. */
  readonly readsPastLimit?: boolean
}

/** What a round came to. */
export interface ProbeCost {
  /** Milliseconds that the server spent: what only the network took is left out. */
  readonly costMs: number
  /** Rows that the server read; null where it does not tell. */
  readonly costRows: number | null
  readonly server: ServerLoad | null
  readonly limits: readonly ProbeLimit[]
}

/** Some probes that are made together, one after the other. */
export interface ProbeRound {
  /** The database's clock at its beginning, as DATETIME(6) text. */
  readonly now: string
  /**
   * Undefined when the probe was held back, or given up; why is in the `limits` of the round. Throws AppError when the database cannot be
   * asked at all: the link is lost, the table stays locked, or one statement after the other runs into its limit.
   */
  rows(probe: Probe, values?: readonly SqlValue[]): Promise<readonly SqlRow[] | undefined>
  /** Rows that the server expects to read for the statement, one figure for each table of its plan, in order. Does not run it. */
  expectedRows(probe: Probe, values?: readonly SqlValue[]): Promise<readonly number[] | undefined>
  /** Notes that a figure is not complete. */
  cut(limit: ProbeLimit): void
  end(): Promise<ProbeCost>
}

export interface ProbeGuard {
  /** Aborting ends the statement in flight, on the server too. */
  begin(signal?: AbortSignal): Promise<ProbeRound>
}

/** Whether a figure of the reading is missing or not complete. What is then zero or empty in it is unknown. */
export const isHeldBack = ({ limits }: Pick<QueueReading, 'limits'>, name: ProbeName): boolean =>
  limits.some(({ probe }) => probe === name)
