import { AppError } from '../kernel/index.ts'
import type { AccessMode } from './settings.ts'
import type { TestNote } from './test-note.ts'

/** One line of SHOW GRANTS. */
interface Grant {
  readonly revoked: boolean
  readonly privileges: ReadonlySet<string>
  readonly scope: 'global' | 'database' | 'table'
}

export interface RightsVerdict {
  readonly status: 'ok' | 'warning' | 'failed'
  readonly notes: readonly TestNote[]
  readonly problem: AppError | null
}

const needed: Record<AccessMode, readonly string[]> = {
  'read-only': ['SELECT'],
  'read-write': ['SELECT', 'INSERT', 'UPDATE', 'DELETE']
}

/** On every database at once these are harmless to have. */
const harmlessGlobal: ReadonlySet<string> = new Set([
  'USAGE',
  'PROCESS',
  'SHOW DATABASES',
  'REPLICATION CLIENT',
  'BINLOG MONITOR',
  'SLAVE MONITOR',
  'REPLICA MONITOR',
  'SHOW_ROUTINE'
])

/** On its own database a reader needs no more than these. */
const harmlessForReading: ReadonlySet<string> = new Set(['USAGE', 'SELECT', 'SHOW VIEW'])

/**
 * What the account's grants mean for one database. `failed` when SELECT is surely missing; `warning` when rights exceed
 * what the mode needs (the account is the only fence that holds), when writing rights are missing, or when roles hide
 * what is granted. `lines` are those of SHOW GRANTS.
 */
export function judgeRights(lines: readonly string[], database: string, accessMode: AccessMode): RightsVerdict {
  const grants = lines.map((line) => readGrant(line, database)).filter((grant) => grant !== null)
  const held = (privilege: string): boolean => holds(grants, privilege)
  const onTables = grants.some((grant) => grant.scope === 'table' && grant.privileges.has('SELECT'))
  const usesRoles = lines.some((line) => /^GRANT (?:`|')/.test(line) && !/ ON /.test(line))
  if (!held('SELECT') && !onTables) {
    if (usesRoles) return verdict('warning', { code: 'rightsThroughRoles' })
    return { status: 'failed', notes: [], problem: noSelect(database) }
  }
  const excess = excessRights(grants, accessMode)
  if (excess.length > 0) return verdict('warning', { code: 'rightsExcess', values: { rights: excess.join(', ') } })
  const missing = needed[accessMode].filter((privilege) => !held(privilege)).join(', ')
  if (missing === '') return verdict('ok', { code: 'rights', values: { rights: needed[accessMode].join(', ') } })
  const code = onTables ? 'rightsOnTablesOnly' : 'rightsMissing'
  return verdict('warning', { code, values: { rights: missing } })
}

const verdict = (status: 'ok' | 'warning', note: TestNote): RightsVerdict => ({ status, notes: [note], problem: null })

const noSelect = (database: string): AppError =>
  new AppError('NO_RIGHTS', 'user', 'The account may not read this database: ask for GRANT SELECT on it.', {
    details: { database, privilege: 'SELECT' }
  })

/** Access denied for user to database. Also the answer for a database that does not exist, to an account without rights on all. */
const deniedNumber = 1044

/** The refusal of a database with what would end it; any other error as it is. */
export function deniedDatabase(
  error: AppError,
  { user, database }: { user: string; database: string | null },
  accessMode: AccessMode
): AppError {
  if (error.details['errno'] !== deniedNumber || database === null) return error
  const grant = grantStatement(user, database, accessMode)
  const text = `The account ${user} has no rights on the database ${database}, or there is none of this name. Check the name, or let an administrator run: ${grant}`
  return new AppError(error.code, error.kind, text, { cause: error, details: { ...error.details, database, grant } })
}

/** With any host; who runs it may put the account's own. `_` and `%` are patterns in the name of a database. */
function grantStatement(user: string, database: string, accessMode: AccessMode): string {
  const name = database.replaceAll('`', '``').replace(/[\\_%]/g, '\\$&')
  const account = user.replaceAll('\\', '\\\\').replaceAll("'", "''")
  return `GRANT ${needed[accessMode].join(', ')} ON \`${name}\`.* TO '${account}'@'%'`
}

function holds(grants: readonly Grant[], privilege: string): boolean {
  const covers = (grant: Grant): boolean =>
    grant.scope !== 'table' && (grant.privileges.has(privilege) || grant.privileges.has('ALL PRIVILEGES'))
  return (
    grants.some((grant) => !grant.revoked && covers(grant)) && !grants.some((grant) => grant.revoked && covers(grant))
  )
}

function excessRights(grants: readonly Grant[], accessMode: AccessMode): string[] {
  const excess = new Set<string>()
  for (const { revoked, scope, privileges } of grants) {
    if (revoked) continue
    for (const privilege of privileges) {
      if (scope === 'global' && !harmlessGlobal.has(privilege)) excess.add(`${privilege} ON *.*`)
      if (scope !== 'global' && accessMode === 'read-only' && !harmlessForReading.has(privilege)) excess.add(privilege)
    }
  }
  return [...excess]
}

const grantLine = /^(GRANT|REVOKE) (.+?) ON (?:TABLE )?(\*|`(?:[^`]|``)*`)\.(\*|`(?:[^`]|``)*`) (?:TO|FROM) (.*)$/

function readGrant(line: string, database: string): Grant | null {
  const match = grantLine.exec(line)
  if (!match) return null
  const [, verb, list = '', on = '', table = '', account = ''] = match
  const global = on === '*'
  if (!global && !names(on, database, table === '*')) return null
  // Column lists are taken for the whole table: whoever may read some columns may read.
  const privileges = new Set(list.replace(/ ?\([^)]*\)/g, '').split(', '))
  if (/ WITH (?:.* )?GRANT OPTION/.test(account)) privileges.add('GRANT OPTION')
  return { revoked: verb === 'REVOKE', privileges, scope: global ? 'global' : table === '*' ? 'database' : 'table' }
}

/** In a grant on all tables the database's name is a LIKE pattern. */
function names(identifier: string, database: string, isPattern: boolean): boolean {
  const name = identifier.slice(1, -1).replaceAll('``', '`')
  return isPattern ? likePattern(name).test(database) : name === database
}

function likePattern(like: string): RegExp {
  const source = like.replace(/\\[\s\S]|[\s\S]/g, (part) => {
    if (part === '%') return '.*'
    if (part === '_') return '.'
    const literal = part.length === 2 ? part.slice(1) : part
    return literal.replace(/[.*+?^${}()|[\]\\]/, '\\$&')
  })
  return new RegExp(`^${source}$`)
}
