/** Where the import handler puts rows: a table in the queue's own database, each row once per (import, row number). */
export interface ImportedRow {
  /** 1 is the first line after the header. */
  readonly rowNumber: number
  /** The row as JSON text. */
  readonly data: string
}

export interface RowSink {
  /** One transaction. Rows that are already there are skipped. Returns how many were new. */
  insert(importKey: string, rows: readonly ImportedRow[]): Promise<number>
  count(importKey: string): Promise<number>
  close(): Promise<void>
}
