export { fileFaultOf, UnusableFile, type FileFault } from './file-fault.ts'
export { openSqlite, openSqliteFile, type OpenedFile, type SqliteFileFormat } from './open-sqlite-file.ts'
