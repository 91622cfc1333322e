import type { ServerLoad, SqlRow } from '../kernel/index.ts'

/** Where a round is, and what the server allows. The session's id tells whether its counters began anew. */
export const beginning = 'SELECT NOW(6) AS now, CONNECTION_ID() AS session, @@max_connections AS most_sessions'

const shown = ['Threads_connected', 'Threads_running', 'Innodb_row_lock_waits', 'Innodb_row_lock_time']

/** Of the session, since it counts the rows that were read for us alone; what is known of the server only, it tells as well. */
export const sessionStatus = `
SHOW SESSION STATUS WHERE Variable_name IN (${shown.map((name) => `'${name}'`).join(', ')}) OR Variable_name LIKE 'Handler_read%'`

const figures = (status: readonly SqlRow[]): Map<string, number> =>
  new Map(status.map((row) => [String(row['Variable_name']), Number(row['Value'])]))

/** Rows and index entries that the session has read since it was opened. */
export function rowsRead(status: readonly SqlRow[]): number {
  return [...figures(status)].reduce((sum, [name, value]) => (name.startsWith('Handler_read') ? sum + value : sum), 0)
}

/** null when the server does not tell how many sessions it has. */
export function serverLoadOf(status: readonly SqlRow[], mostSessions: number): ServerLoad | null {
  const known = figures(status)
  const sessions = known.get('Threads_connected')
  if (sessions === undefined) return null
  return {
    sessions,
    mostSessions,
    threadsRunning: known.get('Threads_running') ?? null,
    rowLockWaits: known.get('Innodb_row_lock_waits') ?? null,
    rowLockTimeMs: known.get('Innodb_row_lock_time') ?? null
  }
}
