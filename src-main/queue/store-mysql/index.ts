export { claimStatements, type ClaimStatement } from './claim-statements.ts'
export { openMysqlStore, type MysqlStoreOptions } from './mysql-store.ts'
export { openMysqlRowSink } from './row-sink.ts'
export { mysqlSchema, type MysqlSchemaOptions } from './schema.ts'
