/**
 * The port through which rooms reach a MySQL or MariaDB server; `connections` implements it. Values are always bound
 * through the prepared protocol. Ids and other BIGINT columns arrive as strings, DATETIME as text, JSON as text.
 */
export type SqlValue = string | number | bigint | Uint8Array | null
export type SqlRow = Readonly<Record<string, SqlValue>>

export interface SqlResult {
  readonly rows: readonly SqlRow[]
  /** Rows that matched the statement's conditions (FOUND_ROWS), not only rows that changed. */
  readonly affectedRows: number
  readonly insertId: string
}

export interface SqlRunner {
  execute(sql: string, values?: readonly SqlValue[]): Promise<SqlResult>
}

export type SqlFlavour = 'mysql' | 'mariadb'

export interface TransactionOptions {
  /** Whole-transaction retries after a deadlock or lock timeout (1213, 1205). Default 5. */
  readonly retries?: number
  /**
   * Asked on a fresh connection when the reply to COMMIT was lost. Returns the transaction's result when it did commit,
   * undefined when it did not (it is then run again). Without it such a loss is thrown as COMMIT_UNKNOWN.
   */
  readonly readBack?: (runner: SqlRunner) => Promise<unknown>
}

export interface StatementOptions {
  /** Aborted, the statement is given up (STATEMENT_TIMEOUT) and ended on the server. */
  readonly signal?: AbortSignal | undefined
}

/** A pool of sessions on one server. Every call has a deadline for a free session and for the server's answer. */
export interface SqlDatabase extends SqlRunner {
  readonly flavour: SqlFlavour
  readonly serverVersion: string
  execute(sql: string, values?: readonly SqlValue[], options?: StatementOptions): Promise<SqlResult>
  /** READ COMMITTED. The work may run more than once: it must have no effect outside the database. */
  transaction<T>(work: (runner: SqlRunner) => Promise<T>, options?: TransactionOptions): Promise<T>
  close(): Promise<void>
}

/** The plan as rows, one a table: a server may be set to give plans in another form. */
export const explain = (sql: string): string => `EXPLAIN FORMAT=TRADITIONAL ${sql}`
