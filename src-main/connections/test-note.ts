/** What a step of a connection test found, to be said in the page's language. */
export type TestNoteCode =
  | 'elapsed'
  | 'notEncrypted'
  | 'tlsVersion'
  | 'certificateChecked'
  | 'anyCertificate'
  | 'server'
  | 'clearLink'
  | 'database'
  | 'rights'
  | 'rightsThroughRoles'
  | 'rightsExcess'
  | 'rightsMissing'
  | 'rightsOnTablesOnly'
  | 'rightsForTables'
  | 'schemaReady'
  | 'schemaMissing'
  | 'schemaOutdated'
  | 'profileFits'

export interface TestNote {
  readonly code: TestNoteCode
  /** What the text speaks of; never a secret. */
  readonly values?: Readonly<Record<string, string | number>>
}
