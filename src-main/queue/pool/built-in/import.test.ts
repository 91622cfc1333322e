import { describe, expect, it } from 'vitest'
import { makeImport } from '../../../../resources/demo/make-import.mjs'
import { faultOf, sampleColumns } from './import-columns.ts'
import { ImportReport } from './import-report.ts'

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

  it('counts beyond its limit', () => {
    const report = new ImportReport()
    for (let row = 1; row <= 50_010; row++) report.add(row, 'r', 'd')
    expect(report.rejected).toBe(50_010)
    expect(report.toCsv()).toContain('10 more rejected rows are not listed')
  })
})

describe('the sample file', () => {
  it('is the same each time', () => expect(makeImport(50, 5)).toBe(makeImport(50, 5)))
})
