import { createReadStream } from 'node:fs'
import { parse } from 'csv-parse'
import { z } from 'zod'
import { messageOf, textProperty } from '../error-text.ts'
import { defineHandler, FinalError } from '../handler.ts'
import { headOf } from './file-head.ts'
import { requireDistinctNames } from './import-columns.ts'
import { importFields, importRows } from './import-run.ts'

const payload = z.object({
  file: z.string().min(1).describe('Absolute path of the CSV file, with a header line'),
  delimiter: z.string().length(1).default(','),
  ...importFields
})
type Import = z.output<typeof payload>

export const importCsvHandler = defineHandler({
  type: 'import-csv',
  description: 'Imports a CSV file in batches; bad rows are reported in a file and the rest is imported.',
  payload,
  example: { file: '/path/to/orders.csv', batchSize: 200 },
  execute: (context, request) => importRows(context, request, readRecords(request, context.signal))
})

async function* readRecords(request: Import, signal: AbortSignal): AsyncGenerator<Record<string, unknown>> {
  if ((await headOf(request.file)) !== 'other')
    throw new FinalError('FILE_NOT_CSV', `${request.file} is no text: a workbook (.xlsx) is imported with import-xlsx.`)
  try {
    for await (const record of parseFile(request, signal)) yield record as Record<string, unknown>
  } catch (error) {
    throw isCsvFault(error) ? new FinalError('FILE_NOT_CSV', `${request.file}: ${messageOf(error)}`) : error
  }
}

function parseFile({ file, delimiter }: Import, signal: AbortSignal): AsyncIterable<unknown> {
  const parser = parse({
    columns: (names: string[]) => {
      requireDistinctNames(names)
      return names
    },
    delimiter,
    bom: true,
    skip_empty_lines: true,
    relax_column_count: true,
    max_record_size: 65_536
  })
  const source = createReadStream(file, { signal })
  source.on('error', (error) => parser.destroy(error))
  return source.pipe(parser)
}

/** A quote that does not close, a record without end: no later attempt reads the file otherwise. */
const isCsvFault = (error: unknown): boolean => textProperty(error, 'code')?.startsWith('CSV_') ?? false
