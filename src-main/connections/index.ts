export { openMysql, type MysqlOptions } from './mysql-database.ts'
export {
  parseMysqlUrl,
  requirePlainNames,
  type AccessMode,
  type MysqlLogin,
  type MysqlSettings,
  type TlsMode
} from './settings.ts'
export {
  serverName,
  testMysqlConnection,
  type ConnectionTestOptions,
  type ConnectionTestStep,
  type SchemaVerdict
} from './connection-test.ts'
export { ConnectionStore, readStoredConnections, type Environment, type StoredConnection } from './connection-store.ts'
export { Secrets, type PasswordPlace, type SecretTarget, type SecretVault } from './secrets.ts'
export { readPrivateFile, writePrivateFile, type ReadOutcome } from './private-file.ts'
export { deniedCommand } from './grants.ts'
export { refusesPassword } from './sql-error.ts'
export type { TestNote } from './test-note.ts'
