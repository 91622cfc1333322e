import { toAppError, type HealthGap, type HealthPart } from '../../kernel/index.ts'

/** The server has no such table, column or variable, or does not support the statement: it is older, or that part is switched off. */
const notThere: readonly number[] = [1054, 1064, 1109, 1146, 1193, 1235, 1295]

/** The value, or why it cannot be had. What breaks the connection itself is thrown: the whole look then failed. */
export async function readPart<T>(
  work: () => Promise<T>,
  at: () => number,
  remedy: string | null
): Promise<HealthPart<T>> {
  try {
    const value = await work()
    return { status: 'known', at: at(), value }
  } catch (error) {
    return { status: 'unknown', gap: gapOf(error, remedy) }
  }
}

/** `remedy` is the statement that would give the missing right. Throws what is no failure of the statement alone. */
export function gapOf(error: unknown, remedy: string | null): HealthGap {
  const known = toAppError(error)
  const errno = typeof known.details['errno'] === 'number' ? known.details['errno'] : null
  if (known.code === 'NO_RIGHTS') return { reason: 'rights', remedy, errno }
  if (errno !== null && notThere.includes(errno)) return { reason: 'off', remedy: null, errno }
  // Given up by this side its connection is gone too; the next statement opens another one.
  if (known.code === 'STATEMENT_TIMEOUT' || known.code === 'LOCK_TIMEOUT')
    return { reason: 'timeout', remedy: null, errno }
  if (known.code === 'SQL_FAILED') return { reason: 'failed', remedy: null, errno }
  throw error
}

/** `GRANT PROCESS ON *.* TO 'taskdeck'@'%'`, for the account as CURRENT_USER() names it. */
export function grantFor(privilege: string, on: string, currentUser: string | null): string {
  if (currentUser === null) return `GRANT ${privilege} ON ${on} TO …`
  const at = currentUser.lastIndexOf('@')
  const [user, host] = at < 0 ? [currentUser, '%'] : [currentUser.slice(0, at), currentUser.slice(at + 1)]
  return `GRANT ${privilege} ON ${on} TO ${quoted(user)}@${quoted(host)}`
}

const quoted = (name: string): string => `'${name.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`
