import { AppError } from '../kernel/index.ts'
import type { AccessMode } from './settings.ts'
import type { TestNote } from './test-note.ts'

/** One line of SHOW GRANTS. */
interface Grant {
  readonly revoked: boolean
  readonly privileges: ReadonlySet<string>
  readonly scope: 'global' | 'database' | 'table'
  /** Of a grant on one table. */
  readonly table: string | null
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

/** What the first migration needs beyond that: it makes tables with all their keys and alters none. */
const neededForTables = 'CREATE'

const all = 'ALL PRIVILEGES'

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

export interface RightsNeed {
  readonly database: string
  readonly accessMode: AccessMode
  /** The tables are still to be made through this connection. */
  readonly makesTables: boolean
}

const grantsOn = (lines: readonly string[], database: string): Grant[] =>
  lines.map((line) => readGrant(line, database)).filter((grant) => grant !== null)

/** Whether the lines of SHOW GRANTS let the account make tables in the database. */
export const mayMakeTables = (lines: readonly string[], database: string): boolean =>
  holds(grantsOn(lines, database), neededForTables)

/**
 * What the account's grants mean for one database. `failed` when SELECT is surely missing; `warning` when rights exceed
 * what the mode needs (the account is the only fence that holds), when rights to write or to make the tables are missing, or when
 * roles hide what is granted. `lines` are those of SHOW GRANTS.
 */
export function judgeRights(
  lines: readonly string[],
  { database, accessMode, makesTables }: RightsNeed
): RightsVerdict {
  const grants = grantsOn(lines, database)
  const held = (privilege: string): boolean => holds(grants, privilege)
  const onTables = grants.some((grant) => grant.scope === 'table' && grant.privileges.has('SELECT'))
  if (!held('SELECT') && !onTables) return cannotRead(lines, noSelect(database))
  const remarks: TestNote[] = []
  const remark = (code: TestNote['code'], rights: readonly string[]): void => {
    if (rights.length > 0) remarks.push({ code, values: { rights: rights.join(', ') } })
  }
  const missing = needed[accessMode].filter((privilege) => !held(privilege))
  remark(onTables ? 'rightsOnTablesOnly' : 'rightsMissing', missing)
  if (makesTables && !held(neededForTables)) remark('rightsForTables', [neededForTables])
  remark('rightsExcess', excessRights(grants, accessMode))
  if (remarks.length > 0) return verdict('warning', remarks)
  return verdict('ok', [{ code: 'rights', values: { rights: needed[accessMode].join(', ') } }])
}

/** What the grants mean for whoever reads one table and nothing else: SELECT on that table is enough, and more than reading is too much. */
export function judgeTableRights(
  lines: readonly string[],
  { database, table }: { readonly database: string; readonly table: string }
): RightsVerdict {
  const grants = grantsOn(lines, database)
  // Some servers keep names of tables in lower case.
  const isOnTable = (grant: Grant): boolean => grant.table?.toLowerCase() === table.toLowerCase()
  const onTable = grants.some(
    (grant) => isOnTable(grant) && (grant.privileges.has('SELECT') || grant.privileges.has(all))
  )
  if (!onTable && !holds(grants, 'SELECT')) return cannotRead(lines, noSelect(database, table))
  const excess = excessRights(grants, 'read-only')
  if (excess.length === 0) return verdict('ok', [{ code: 'rights', values: { rights: 'SELECT' } }])
  return verdict('warning', [{ code: 'rightsExcess', values: { rights: excess.join(', ') } }])
}

/** Roles hide what is granted. */
function cannotRead(lines: readonly string[], problem: AppError): RightsVerdict {
  const usesRoles = lines.some((line) => /^GRANT (?:`|')/.test(line) && !/ ON /.test(line))
  return usesRoles ? verdict('warning', [{ code: 'rightsThroughRoles' }]) : { status: 'failed', notes: [], problem }
}

const verdict = (status: 'ok' | 'warning', notes: readonly TestNote[]): RightsVerdict => ({
  status,
  notes,
  problem: null
})

const noSelect = (database: string, table?: string): AppError => {
  const what = table === undefined ? 'this database' : `the table ${table}`
  return new AppError('NO_RIGHTS', 'user', `The account may not read ${what}: ask for GRANT SELECT on it.`, {
    details: { database, privilege: 'SELECT', ...(table === undefined ? {} : { table }) }
  })
}

/** Access denied for user to database. Also the answer for a database that does not exist, to an account without rights on all. */
const deniedNumber = 1044

/** The refusal of a database with what would end it; any other error as it is. */
export function deniedDatabase(
  error: AppError,
  { user, database }: { user: string; database: string | null },
  accessMode: AccessMode
): AppError {
  if (error.details['errno'] !== deniedNumber || database === null) return error
  const grant = grantStatement(user, database, needed[accessMode])
  const text = `The account ${user} has no rights on the database ${database}, or there is none of this name. Check the name, or let an administrator run: ${grant}`
  return new AppError(error.code, error.kind, text, { cause: error, details: { ...error.details, database, grant } })
}

/** The refusal of one command (`details.privilege`) with the statement that would allow it; any other error as it is. */
export function deniedCommand(error: AppError, { user, database }: { user: string; database: string }): AppError {
  const privilege = error.details['privilege']
  if (error.code !== 'NO_RIGHTS' || typeof privilege !== 'string') return error
  const grant = grantStatement(user, database, [privilege])
  const text = `The account ${user} may not do this: it lacks ${privilege} on ${database}. Let an administrator run: ${grant}`
  return new AppError(error.code, error.kind, text, { cause: error, details: { ...error.details, database, grant } })
}

/** With any host; who runs it may put the account's own. `_` and `%` are patterns in the name of a database. */
function grantStatement(user: string, database: string, privileges: readonly string[]): string {
  const name = database.replaceAll('`', '``').replace(/[\\_%]/g, '\\$&')
  const account = user.replaceAll('\\', '\\\\').replaceAll("'", "''")
  return `GRANT ${privileges.join(', ')} ON \`${name}\`.* TO '${account}'@'%'`
}

function holds(grants: readonly Grant[], privilege: string): boolean {
  const covers = (grant: Grant): boolean =>
    grant.scope !== 'table' && (grant.privileges.has(privilege) || grant.privileges.has(all))
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
  const scope = global ? 'global' : table === '*' ? 'database' : 'table'
  return { revoked: verb === 'REVOKE', privileges, scope, table: scope === 'table' ? nameIn(table) : null }
}

/** In a grant on all tables the database's name is a LIKE pattern. */
function names(identifier: string, database: string, isPattern: boolean): boolean {
  const name = nameIn(identifier)
  return isPattern ? likePattern(name).test(database) : name === database
}

const nameIn = (identifier: string): string => identifier.slice(1, -1).replaceAll('``', '`')

function likePattern(like: string): RegExp {
  const source = like.replace(/\\[\s\S]|[\s\S]/g, (part) => {
    if (part === '%') return '.*'
    if (part === '_') return '.'
    const literal = part.length === 2 ? part.slice(1) : part
    return literal.replace(/[.*+?^${}()|[\]\\]/, '\\$&')
  })
  return new RegExp(`^${source}$`)
}
