import { beforeEach, describe, expect, it } from 'vitest'
import { makeImport } from '../../../../resources/demo/make-import.mjs'
import { taskLimits } from '../../../kernel/index.ts'
import { contextOf, newTrace, type ImportTrace } from './import-context.fixture.ts'
import { importCsvHandler } from './import-csv.ts'
import { faultOf, sampleColumns } from './import-columns.ts'
import { ImportReport } from './import-report.ts'
import { temporaryFile } from './temporary-file.fixture.ts'

const good = {
  order_no: 'A-1',
  customer: 'Ada',
  email: 'ada@example.com',
  amount: '12.50',
  ordered_on: '2026-02-28',
  note: ''
}

describe('faultOf', () => {
  it('finds nothing wrong with a good row', () => expect(faultOf(good, sampleColumns)).toBeUndefined())

  it.each([
    [{ email: 'nobody' }, 'email is not an e-mail address'],
    [{ amount: '1e5' }, 'amount is not a number'],
    [{ amount: '' }, 'amount is not a number'],
    [{ ordered_on: '2026-02-30' }, 'ordered_on is not a date (YYYY-MM-DD)'],
    [{ ordered_on: '28.02.2026' }, 'ordered_on is not a date (YYYY-MM-DD)'],
    [{ customer: '  ' }, 'customer is empty']
  ])('names the fault of %j', (change, fault) => expect(faultOf({ ...good, ...change }, sampleColumns)).toBe(fault))

  it('names all faults of a row', () => {
    expect(faultOf({ ...good, customer: '', amount: 'x' }, sampleColumns)).toBe(
      'customer is empty; amount is not a number'
    )
  })

  it('takes a missing column as an empty one', () => {
    const without = Object.fromEntries(Object.entries(good).filter(([name]) => name !== 'customer'))
    expect(faultOf(without, sampleColumns)).toBe('customer is empty')
  })
})

describe('ImportReport', () => {
  it('quotes, and disarms what a spreadsheet would run', () => {
    const report = new ImportReport()
    report.add(3, 'says "no"', '=HYPERLINK("x")')
    expect(report.toCsv()).toBe(`row,reason,data\r\n3,"says ""no""","'=HYPERLINK(""x"")"\r\n`)
    expect(report.rejected).toBe(1)
  })

  it('stays within what an artifact may have', () => {
    const report = new ImportReport()
    for (let row = 1; row <= 400; row++) report.add(row, 'is empty', 'd'.repeat(60_000))
    expect(report.toCsv().length).toBeLessThanOrEqual(taskLimits.artifactBytes)
    expect(report.toCsv()).toMatch(/\d+ more rejected rows are not listed/)
  })

  it('counts beyond its limit', () => {
    const report = new ImportReport()
    for (let row = 1; row <= 50_010; row++) report.add(row, 'r', 'd')
    expect(report.rejected).toBe(50_010)
    expect(report.toCsv()).toContain('10 more rejected rows are not listed')
  })
})

describe('import-csv', () => {
  let trace: ImportTrace

  const run = (csv: string, columns: Record<string, string>): unknown => {
    const payload: unknown = importCsvHandler.payload.parse({ file: temporaryFile(csv, 'rows.csv'), columns })
    return importCsvHandler.execute(contextOf(trace), payload)
  }

  beforeEach(() => (trace = newTrace()))

  it('refuses two columns of one name, and takes any number without one', async () => {
    const twice = { errorClass: 'final', code: 'COLUMN_TWICE', message: expect.stringContaining('"a"') as string }
    await expect(run('a,b,a\n1,2,3\n', { b: 'text' })).rejects.toMatchObject(twice)
    trace = newTrace()
    await run('a,,\n1,2,3\n', { a: 'text' })
    expect(trace.stored).toHaveLength(1)
  })

  it('rejects a row that is too long to be stored, and imports the others', async () => {
    const long = '\\'.repeat(40_000) // twice as long as JSON
    await run(`name\nAda\n${long}\nGrace\n`, { name: 'text' })
    expect(trace.stored.map(({ rowNumber }) => rowNumber)).toEqual([1, 3])
    expect(trace.files).toMatchObject([{ name: 'import-errors.csv' }])
  })

  it('does not try a file again that is no CSV', async () => {
    const broken = Promise.resolve(run('name\n"never closed\n', { name: 'text' }))
    await expect(broken).rejects.toMatchObject({ errorClass: 'final', code: 'FILE_NOT_CSV' })
  })
})

describe('the sample file', () => {
  it('is the same each time', () => expect(makeImport(50, 5)).toBe(makeImport(50, 5)))
})
