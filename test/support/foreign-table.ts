import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { openMysql, parseMysqlUrl } from '../../src-main/connections/index.ts'
import { systemClock, type QueueReading, type SqlDatabase } from '../../src-main/kernel/index.ts'
import { createCostGuard, createForeignReader, probeLimits } from '../../src-main/monitoring/index.ts'
import { compileProfile, parseProfile, type TableProfile } from '../../src-main/schema-profiles/index.ts'

/** The table of the first design article, as far as it tells, with the index that it names. */
export const thesisTable = `
CREATE TABLE thesis_run_task (
  id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, project_id BIGINT NOT NULL DEFAULT 1, task_type VARCHAR(64) NULL, status VARCHAR(16) NOT NULL,
  enabled TINYINT NOT NULL DEFAULT 1, idempotency_key VARCHAR(128) NULL, payload VARCHAR(2000) NULL, attempt_count INT NOT NULL DEFAULT 0,
  max_attempts INT NOT NULL DEFAULT 3, worker_id VARCHAR(64) NULL, next_retry_at DATETIME NULL, error_code VARCHAR(64) NULL, error_message TEXT NULL,
  created_at DATETIME NOT NULL, updated_at DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP, finished_at DATETIME NULL,
  KEY idx_task_ready (status, enabled, next_retry_at, created_at, id)
)`

export const profileText = (name: 'thesis-run-task' | 'laravel-jobs'): string =>
  readFileSync(join(import.meta.dirname, `../../resources/profiles/${name}.json`), 'utf8')
export const shippedProfile = (name: 'thesis-run-task' | 'laravel-jobs'): TableProfile =>
  parseProfile(profileText(name), name)

/** All indexes that the probes of a profile name, but those that begin another one. */
export function advisedIndexes(profile: TableProfile): string[] {
  const { slices, submitted, ended } = compileProfile(profile, [])
  const stretch = { fromMs: 0, uptoMs: 1 }
  const flows = [...(submitted ? [submitted] : []), ...ended]
  const named = [
    ...slices.flatMap((slice) => [slice.depth(0).probe.index, slice.oldest?.index]),
    ...flows.map((flow) => flow.of('ended', stretch).probe.index)
  ].filter((index) => typeof index === 'string')
  const begins = (index: string, other: string): boolean => columnsOf(other).startsWith(`${columnsOf(index)}, `)
  return [...new Set(named)].filter((index) => !named.some((other) => begins(index, other)))
}

/** What stands between the last brackets. */
export const columnsOf = (index: string): string => /\((.*)\)$/.exec(index)?.[1] ?? ''

export interface WatchedTable {
  readonly read: () => Promise<QueueReading>
  readonly sql: SqlDatabase
  close(): Promise<void>
}

/** As `taskdeck status --profile` does it; with a budget that never ends when readings follow each other. */
export async function watchTable(url: string, profile: TableProfile): Promise<WatchedTable> {
  const sql = await openMysql(parseMysqlUrl(url), {
    accessMode: 'read-only',
    poolSize: 1,
    acquireTimeoutMs: 10_000,
    connectTimeoutMs: 10_000,
    statementTimeoutMs: probeLimits.statementMs,
    clock: systemClock
  })
  const budget = { ms: Number.POSITIVE_INFINITY, rows: Number.POSITIVE_INFINITY }
  const guard = createCostGuard({ database: sql, clock: systemClock, budget })
  return { sql, read: createForeignReader(profile, { guard, clock: systemClock }), close: () => sql.close() }
}

/** Makes the index of each limit until a new look names none; resolves to what it made. */
export async function makeAdvisedIndexes(
  url: string,
  profile: TableProfile,
  make: (sql: string) => Promise<unknown>
): Promise<string[]> {
  const made: string[] = []
  for (;;) {
    const watched = await watchTable(url, profile)
    const { limits } = await watched.read().finally(() => watched.close())
    const advised = [...new Set(limits.flatMap(({ index }) => index ?? []))]
    if (advised.length === 0) return made
    for (const sql of advised) await make(sql)
    made.push(...advised)
  }
}
