export { openMysql, type MysqlOptions } from './mysql-database.ts'
export {
  isLoopbackHost,
  parseMysqlUrl,
  type AccessMode,
  type MysqlLogin,
  type MysqlSettings,
  type TlsMode
} from './settings.ts'
export { classifySqlError, isTransient } from './sql-error.ts'
