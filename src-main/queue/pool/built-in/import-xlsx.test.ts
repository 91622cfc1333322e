import { writeFileSync } from 'node:fs'
import { beforeEach, expect, it } from 'vitest'
import { makeImport } from '../../../../resources/demo/make-import.mjs'
import { threadLimits } from '../protocol.ts'
import { contextOf, newTrace, type ImportTrace } from './import-context.fixture.ts'
import { importCsvHandler } from './import-csv.ts'
import { importXlsxHandler } from './import-xlsx.ts'
import { temporaryFile } from './temporary-file.fixture.ts'
import { ordersWorkbook } from './xlsx/orders.fixture.ts'
import { row, text, workbookOf } from './xlsx/workbook.fixture.ts'

let trace: ImportTrace
beforeEach(() => (trace = newTrace()))

const fileOf = (name: string, content: string | Buffer): string => temporaryFile(content, name)

const importXlsx = (payload: object, context = contextOf(trace)): Promise<unknown> =>
  Promise.resolve(importXlsxHandler.execute(context, importXlsxHandler.payload.parse(payload)))

it('imports 10,000 rows of which 200 are bad as the same rows in CSV are', async () => {
  const csv = makeImport()
  const fromCsv = newTrace()
  const request = importCsvHandler.payload.parse({ file: fileOf('orders.csv', csv) })
  const expected = await importCsvHandler.execute(contextOf(fromCsv), request)
  const outcome = await importXlsx({ file: fileOf('orders.xlsx', ordersWorkbook(csv)) })

  expect(outcome).toEqual(expected)
  // 12.50 is the number 12.5 in a workbook
  const rowsOf = ({ stored }: ImportTrace): unknown[] =>
    stored.map(({ rowNumber, data }) => {
      const cells = JSON.parse(data) as Record<string, string>
      return { ...cells, amount: Number(cells['amount']), rowNumber }
    })
  expect(trace.stored).toHaveLength(9_800)
  expect(rowsOf(trace)).toEqual(rowsOf(fromCsv))
  const faultsOf = ({ files }: ImportTrace) => String(files[0]?.content).match(/^\d+,"[^"]+"/gm)
  expect(faultsOf(trace)).toHaveLength(200)
  expect(faultsOf(trace)).toEqual(faultsOf(fromCsv))
})

it('goes on where an attempt before it ended, with no row twice', async () => {
  const file = fileOf('orders.xlsx', ordersWorkbook(makeImport(1_000, 20)))
  let inserts = 0
  const failing = contextOf(trace, {
    beforeInsert: () => {
      if (++inserts > 5) throw new Error('the database is away')
    }
  })
  await expect(importXlsx({ file, batchSize: 50 }, failing)).rejects.toThrow('the database is away')
  expect(trace.stored).toHaveLength(250)

  const first: number[] = []
  const second = contextOf(trace, { beforeInsert: (rows) => void first.push(rows[0]?.rowNumber ?? 0) })
  await importXlsx({ file, batchSize: 50 }, second)
  expect(trace.log[0]).toMatch(/resumes after row 25\d/)
  expect(first[0]).toBeGreaterThan(250)
  const numbers = trace.stored.map(({ rowNumber }) => rowNumber)
  expect(new Set(numbers).size).toBe(980)
  expect(numbers).toHaveLength(980)
  // rows that the first attempt rejected are in the report too
  expect(trace.files).toMatchObject([{ content: expect.stringMatching(/^row,reason,data\r\n50,/) as string }])
})

it('does not go on with a workbook that has changed', async () => {
  const file = fileOf('orders.xlsx', ordersWorkbook(makeImport(10, 0)))
  await importXlsx({ file })
  writeFileSync(file, ordersWorkbook(makeImport(20, 0)))
  await expect(importXlsx({ file })).rejects.toMatchObject({ errorClass: 'final', code: 'FILE_CHANGED' })
})

it('imports the sheet that is named', async () => {
  const sheets = ['One', 'Two'].map((name) => ({ name, rows: row(text('name')) + row(text(name)) }))
  await importXlsx({ file: fileOf('rows.xlsx', workbookOf({ sheets })), sheet: 'Two', columns: { name: 'text' } })
  expect(trace.stored).toEqual([{ rowNumber: 1, data: '{"name":"Two"}' }])
})

it('says which columns a sheet lacks', async () => {
  const file = fileOf('rows.xlsx', workbookOf({ sheets: [{ name: 'S', rows: row(text('b')) + row(text('1')) }] }))
  await expect(importXlsx({ file, columns: { a: 'text' } })).rejects.toMatchObject({ code: 'MISSING_COLUMNS' })
})

it('rejects a row that is too long to be stored, however it got so long, and imports the others', async () => {
  const long = 'x'.repeat(threadLimits.rowBytes / 2)
  const rows = [
    row(text('a'), text('b'), text('c')),
    row(text('1')),
    row(text(long), text(long), text(long)),
    row(text('2'))
  ]
  const file = fileOf('rows.xlsx', workbookOf({ sheets: [{ name: 'S', rows: rows.join('') }] }))
  await importXlsx({ file, columns: { a: 'text' } })
  expect(trace.stored.map(({ rowNumber }) => rowNumber)).toEqual([1, 3])
  expect(trace.files).toMatchObject([{ content: expect.stringContaining('2,"the row is longer than') as string }])
})

it('and import-csv each tell the other’s file from their own', async () => {
  const workbook = fileOf('orders.csv', ordersWorkbook(makeImport(10, 0)))
  const csv = fileOf('orders.xlsx', makeImport(10, 0))
  const asCsv = Promise.resolve(
    importCsvHandler.execute(contextOf(trace), importCsvHandler.payload.parse({ file: workbook }))
  )
  await expect(asCsv).rejects.toMatchObject({ errorClass: 'final', code: 'FILE_NOT_CSV' })
  await expect(asCsv).rejects.toThrow('import-xlsx')
  trace.checkpoint = undefined
  await expect(importXlsx({ file: csv })).rejects.toMatchObject({ errorClass: 'final', code: 'FILE_NOT_XLSX' })
})
