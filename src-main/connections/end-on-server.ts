import { AppError, withDeadline, type Clock, type SqlRow } from '../kernel/index.ts'
import type { Session } from './session.ts'

/** All steps together. */
const deadlineMs = 5_000
const checkEveryMs = 50

/**
 * Ends a connection that this side has given up, from a new one. Resolves to true once the server no longer has it:
 * its statement is over, its locks are free, its last commit is decided. Throws an AppError when that could not be
 * found out in 5 s. KILL takes the whole connection: a statement may be over while its transaction holds locks.
 */
export async function endOnServer(lost: Session, open: () => Promise<Session>, clock: Clock): Promise<boolean> {
  const late = (): AppError =>
    new AppError(
      'CONNECT_TIMEOUT',
      'operational',
      'The server did not say in time whether a lost connection has ended.'
    )
  return withDeadline(clock, deadlineMs, endFromNewSession(lost, open, clock), late)
}

async function endFromNewSession(lost: Session, open: () => Promise<Session>, clock: Clock): Promise<boolean> {
  const control = await open()
  try {
    if (await isAnotherServer(control, lost, clock)) return true
    await control.command(`KILL ${lost.id}`).catch(ignoreUnknownConnection)
    for (const until = clock.monotonic() + deadlineMs; clock.monotonic() < until;) {
      if (!(await isListed(control, lost.id))) return true
      await clock.sleep(checkEveryMs)
    }
    return false
  } finally {
    control.destroy()
  }
}

/** After a restart or a failover the id belongs to somebody else. */
async function isAnotherServer(control: Session, lost: Session, clock: Clock): Promise<boolean> {
  if (control.server !== lost.server) return true
  const { rows } = await control.command("SHOW GLOBAL STATUS LIKE 'Uptime'")
  const uptimeSeconds = Number(rows[0]?.['Value'])
  const ageSeconds = (clock.monotonic() - lost.openedAt) / 1000
  // Uptime is in whole seconds.
  return uptimeSeconds + 2 < ageSeconds
}

/** An account sees its own connections without further rights. */
async function isListed(control: Session, id: number): Promise<boolean> {
  const { rows } = await control.command('SHOW PROCESSLIST')
  return rows.some((row: SqlRow) => Number(row['Id']) === id)
}

const unknownConnection = 1094

function ignoreUnknownConnection(error: unknown): void {
  if (!(error instanceof AppError && error.details['errno'] === unknownConnection)) throw error
}
