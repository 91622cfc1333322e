import type { AccessMode, ConnectionDraft, ConnectionView, Environment, MysqlSettings } from '@contract'

/** What stands in the form. Text fields are as typed; `port` is null while its field is empty. */
export interface ConnectionForm {
  id: string | null
  name: string
  environment: Environment
  accessMode: AccessMode
  /** What the reader chose, or what is stored; null lets the mode follow the environment. */
  accessChosen: AccessMode | null
  host: string
  port: number | null
  user: string
  database: string
  tls: MysqlSettings['tls']
  ca: string
  password: string
  keepPassword: 'vault' | 'session'
  tables: Tables
  /** Of another application's table, as typed. */
  profile: string
}

/** Taskdeck's own, or another application's, which is only watched. */
export type Tables = 'own' | 'other'

export type FormField = 'name' | 'host' | 'port' | 'user' | 'database' | 'profile'

/** Production opens read-only, so that looking at it can change nothing. */
export function defaultAccess(environment: Environment): AccessMode {
  return environment === 'production' ? 'read-only' : 'read-write'
}

/**
 * Whether the form may be saved with writing allowed. Another application's table never may. Production may only where that was confirmed before, by typing the name on the
 * Connections page; the app refuses it otherwise.
 */
export function mayWrite(
  { environment, tables }: Pick<ConnectionForm, 'environment' | 'tables'>,
  stored: ConnectionView | undefined
): boolean {
  if (tables === 'other') return false
  if (environment !== 'production') return true
  return stored?.environment === 'production' && stored.accessMode === 'read-write'
}

/** What the access mode becomes when the environment or the tables are chosen. */
export function accessIn(
  form: Pick<ConnectionForm, 'environment' | 'accessChosen' | 'tables'>,
  stored: ConnectionView | undefined
): AccessMode {
  if (!mayWrite(form, stored)) return 'read-only'
  return form.accessChosen ?? defaultAccess(form.environment)
}

export function emptyForm(vaultIsPersistent: boolean): ConnectionForm {
  return {
    id: null,
    name: '',
    environment: 'development',
    accessMode: defaultAccess('development'),
    accessChosen: null,
    host: '',
    port: 3306,
    user: '',
    database: '',
    tls: 'disabled',
    ca: '',
    password: '',
    keepPassword: vaultIsPersistent ? 'vault' : 'session',
    tables: 'own',
    profile: ''
  }
}

export function formOf(view: ConnectionView, vaultIsPersistent: boolean): ConnectionForm {
  const empty = emptyForm(vaultIsPersistent)
  return {
    ...empty,
    id: view.id,
    name: view.name,
    environment: view.environment,
    accessMode: view.accessMode,
    // Another application's table was never asked whether it may be written.
    accessChosen: view.profile ? null : view.accessMode,
    ...view.mysql,
    tables: view.profile ? 'other' : 'own',
    profile: view.profile?.text ?? '',
    keepPassword: view.password === 'session' ? 'session' : empty.keepPassword
  }
}

/** A stored password belongs to an address and a user: another one must not be handed it. */
export function keepsStoredPassword(form: ConnectionForm, stored: ConnectionView | undefined): boolean {
  if (!stored?.mysql || stored.password === 'missing') return false
  const { host, port, user } = stored.mysql
  return form.host.trim() === host && form.port === port && form.user === user
}

/** Fields that are missing or not allowed; `connections.invalid.FIELD` says what to do. */
export function invalidFields(form: ConnectionForm): FormField[] {
  const required = (['name', 'host', 'user', 'database'] as const).filter((field) => form[field].trim() === '')
  const { port } = form
  const portIsFine = port !== null && Number.isInteger(port) && port >= 1 && port <= 65_535
  const missesProfile = form.tables === 'other' && form.profile.trim() === ''
  return [...required, ...(portIsFine ? [] : ['port' as const]), ...(missesProfile ? ['profile' as const] : [])]
}

/** Only for a form without invalid fields. An empty password keeps the stored one where that is still right. */
export function toDraft(form: ConnectionForm, stored: ConnectionView | undefined): ConnectionDraft {
  const keep = form.password === '' && keepsStoredPassword(form, stored)
  return {
    id: form.id,
    name: form.name.trim(),
    environment: form.environment,
    accessMode: form.accessMode,
    mysql: {
      host: form.host.trim(),
      port: form.port ?? 3306,
      user: form.user.trim(),
      database: form.database.trim(),
      tls: form.tls,
      ca: form.tls === 'disabled' ? '' : form.ca.trim()
    },
    profile: form.tables === 'other' ? form.profile : null,
    password: keep ? null : form.password,
    keepPassword: form.keepPassword
  }
}
