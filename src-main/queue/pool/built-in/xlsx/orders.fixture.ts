import { parse } from 'csv-parse/sync'
import { cell, row, SharedTexts, workbookOf } from './workbook.fixture.ts'

const dateStyle = '<cellXfs><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs>'
const firstDay = Date.UTC(1899, 11, 30)

/** The sample of the CSV import as a workbook: numbers and dates are numbers in it, all else shared texts. */
export function ordersWorkbook(csv: string): Buffer {
  const texts = new SharedTexts()
  const [header = [], ...orders] = parse(csv)
  const cellOf = (value: string, index: number): string => {
    const day = header[index] === 'ordered_on' ? Date.parse(`${value}T00:00:00Z`) : Number.NaN
    const isDate = !Number.isNaN(day) && new Date(day).toISOString().startsWith(value)
    if (isDate) return cell((day - firstDay) / 86_400_000, 's="1"')
    if (header[index] === 'amount' && /^[\d.]+$/.test(value)) return cell(Number(value))
    return value === '' ? '<c/>' : texts.cell(value)
  }
  const rows = [row(...header.map((name) => texts.cell(name))), ...orders.map((order) => row(...order.map(cellOf)))]
  return workbookOf({ sheets: [{ name: 'Orders', rows: rows.join('') }], texts: texts.toXml(), styles: dateStyle })
}
