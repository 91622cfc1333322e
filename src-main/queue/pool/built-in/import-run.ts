import { stat } from 'node:fs/promises'
import { isAbsolute } from 'node:path'
import { z } from 'zod'
import type { ImportedRow } from '../../row-sink.ts'
import { FinalError, partial, RetryableError, type HandlerContext } from '../handler.ts'
import { threadLimits } from '../protocol.ts'
import { columnRule, faultOf, sampleColumns, type ColumnRule } from './import-columns.ts'
import { ImportReport } from './import-report.ts'

/** What the payload of every import says beside its file. */
export const importFields = {
  batchSize: z.int().min(1).max(1000).default(200).describe('Rows of one transaction'),
  columns: z
    .record(z.string(), columnRule)
    .default({ ...sampleColumns })
    .describe('What each column must hold')
}

export interface ImportRequest {
  /** Absolute path. */
  readonly file: string
  readonly batchSize: number
  readonly columns: Readonly<Record<string, ColumnRule>>
}

/** The file as the first attempt met it, and the last row that is dealt with. */
const checkpoint = z.object({ size: z.number(), modifiedMs: z.number(), row: z.int().min(0) })
type Checkpoint = z.infer<typeof checkpoint>

/**
 * Imports a file into the queue's row table. Each row is there once however often the task runs: its key is the task's
 * idempotency key and the row's number. An attempt after a crash reads the file from the start for
 * the report, but writes only from the checkpoint on. `records` are the rows below the header, by its names; they are asked for once the
 * file is known to be there.
 */
export async function importRows(
  context: HandlerContext,
  request: ImportRequest,
  records: AsyncIterable<Readonly<Record<string, unknown>>>
): Promise<unknown> {
  const run = new ImportRun(context, request, await openCheckpoint(context, request.file))
  for await (const record of records) await run.take(record)
  return run.finish()
}

const tooLong = `the row is longer than ${threadLimits.rowBytes} characters`

class ImportRun {
  private readonly context: HandlerContext
  private readonly request: ImportRequest
  private readonly report = new ImportReport()
  private readonly done: Checkpoint
  private batch: ImportedRow[] = []
  private row = 0
  private valid = 0

  constructor(context: HandlerContext, request: ImportRequest, done: Checkpoint) {
    this.context = context
    this.request = request
    this.done = done
  }

  async take(record: Readonly<Record<string, unknown>>): Promise<void> {
    if (this.row === 0) requireColumns(record, this.request.columns)
    this.row++
    const cells = Object.fromEntries(Object.entries(record).map(([name, value]) => [name, cellText(value)]))
    const data = JSON.stringify(cells)
    const fault = data.length > threadLimits.rowBytes ? tooLong : faultOf(cells, this.request.columns)
    if (fault !== undefined) this.report.add(this.row, fault, data)
    else {
      this.valid++
      if (this.row > this.done.row) this.batch.push({ rowNumber: this.row, data })
    }
    if (this.batch.length >= this.request.batchSize) await this.write()
  }

  async finish(): Promise<unknown> {
    await this.write()
    const imported = await this.context.rows.count(this.context.idempotencyKey)
    if (imported !== this.valid) {
      await this.context.saveCheckpoint({ ...this.done, row: 0 })
      const message = `${this.valid} rows are good but ${imported} are in the table: the next attempt writes all again.`
      throw new RetryableError('IMPORT_INCOMPLETE', message)
    }
    this.tellProgress(this.row)
    const counts = { total: this.row, imported, rejected: this.report.rejected }
    if (this.report.rejected === 0) return counts
    const report = 'import-errors.csv'
    await this.context.artifact({ name: report, contentType: 'text/csv; charset=utf-8', content: this.report.toCsv() })
    this.context.log('warn', `${counts.rejected} of ${counts.total} rows were rejected: see ${report}`)
    return partial({ ...counts, report })
  }

  private async write(): Promise<void> {
    this.context.checkCancellation()
    if (this.batch.length === 0) return
    await this.context.rows.insert(this.context.idempotencyKey, this.batch)
    this.batch = []
    await this.context.saveCheckpoint({ ...this.done, row: this.row })
    this.tellProgress(null)
  }

  private tellProgress(total: number | null): void {
    const failed = this.report.rejected
    this.context.progress({ total, processed: this.row, succeeded: this.valid, failed, skipped: 0 })
  }
}

/** Throws FinalError when the file cannot be read, or is not the one that an earlier attempt began with. */
async function openCheckpoint(context: HandlerContext, file: string): Promise<Checkpoint> {
  if (!isAbsolute(file)) throw new FinalError('FILE_UNAVAILABLE', 'The file must be named by its absolute path.')
  const facts = await stat(file).catch((error: unknown) => {
    throw new FinalError('FILE_UNAVAILABLE', `${file} cannot be read.`, { cause: error })
  })
  if (!facts.isFile()) throw new FinalError('FILE_UNAVAILABLE', `${file} is not a file.`)
  const now: Checkpoint = { size: facts.size, modifiedMs: Math.floor(facts.mtimeMs), row: 0 }
  const saved = checkpoint.safeParse(context.checkpoint)
  if (!saved.success) {
    await context.saveCheckpoint(now)
    return now
  }
  if (saved.data.size !== now.size || saved.data.modifiedMs !== now.modifiedMs) {
    throw new FinalError('FILE_CHANGED', `${file} has changed since the import began: submit it as a new task.`)
  }
  context.log(`resumes after row ${saved.data.row}`)
  return saved.data
}

function requireColumns(
  record: Readonly<Record<string, unknown>>,
  columns: Readonly<Record<string, ColumnRule>>
): void {
  const missing = Object.keys(columns).filter((name) => columns[name] !== 'optional' && !(name in record))
  if (missing.length > 0) throw new FinalError('MISSING_COLUMNS', `The file has no column ${missing.join(', ')}.`)
}

const cellText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value ?? ''))
