export { openSqliteHealth, type SqliteHealth } from './file-health.ts'
export { openSqliteRowSink } from './row-sink.ts'
export { sqliteSchema, type SqliteSchemaOptions } from './schema.ts'
export { openSqliteStore, type SqliteStoreOptions } from './sqlite-store.ts'
