import { AppError } from '../kernel/index.ts'
import type { AccessMode } from './settings.ts'

/** One line of SHOW GRANTS. */
interface Grant {
  readonly revoked: boolean
  readonly privileges: ReadonlySet<string>
  readonly scope: 'global' | 'database' | 'table'
}

export interface RightsVerdict {
  readonly status: 'ok' | 'warning' | 'failed'
  readonly note: string
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
    if (usesRoles) return { status: 'warning', note: 'rights come through roles and are not shown', problem: null }
    return { status: 'failed', note: 'no SELECT', problem: noSelect(database) }
  }
  const excess = excessRights(grants, accessMode)
  if (excess.length > 0) return { status: 'warning', note: `more than needed: ${excess.join(', ')}`, problem: null }
  const missing = needed[accessMode].filter((privilege) => !held(privilege))
  if (missing.length === 0) return { status: 'ok', note: needed[accessMode].join(', '), problem: null }
  const where = onTables ? 'granted on single tables only; on the whole database missing' : 'missing'
  return { status: 'warning', note: `${where}: ${missing.join(', ')}`, problem: null }
}

const noSelect = (database: string): AppError =>
  new AppError('NO_RIGHTS', 'user', 'The account may not read this database: ask for GRANT SELECT on it.', {
    details: { database, privilege: 'SELECT' }
  })

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
      if (scope === 'global' && !harmlessGlobal.has(privilege)) excess.add(`${privilege} on *.*`)
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
