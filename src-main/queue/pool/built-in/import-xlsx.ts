import { z } from 'zod'
import { defineHandler } from '../handler.ts'
import { importFields, importRows } from './import-run.ts'
import type { SheetRequest } from './xlsx/sheet-rows.ts'

const payload = z.object({
  file: z.string().min(1).describe('Absolute path of the .xlsx workbook'),
  sheet: z.string().min(1).optional().describe('Name of the sheet, with a header row; the first visible one if empty'),
  ...importFields
})

export const importXlsxHandler = defineHandler({
  type: 'import-xlsx',
  description:
    'Imports a sheet of an Excel workbook in batches; bad rows are reported in a file and the rest is imported.',
  payload,
  example: { file: '/path/to/orders.xlsx', batchSize: 200 },
  execute: (context, request) => importRows(context, request, readRows(request, context.signal))
})

/** The readers of archives and XML are loaded with the first workbook: a thread starts without them. */
async function* readRows(request: SheetRequest, signal: AbortSignal): AsyncGenerator<Readonly<Record<string, string>>> {
  const { readSheetRows } = await import('./xlsx/sheet-rows.ts')
  yield* readSheetRows(request, signal)
}
