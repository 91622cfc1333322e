/*
 * What a cell holds, as the text that a CSV file would have for it: plain decimals, and dates as YYYY-MM-DD.
 */

/** What the number in a cell means by the cell's format. `elapsed` are hours beyond 24. */
export type CellFormat = 'number' | 'date' | 'elapsed'

/** Ids of formats that every spreadsheet program has built in, those of East Asian languages included. */
const builtInDates = [
  [14, 22],
  [27, 36],
  [45, 47],
  [50, 58]
] as const
const builtInElapsed = 46
/** Longer than any program lets a format be. */
const codeCharacters = 255

/** `code` is a custom format's own text. */
export function formatOf(id: number, code: string | undefined): CellFormat {
  if (code === undefined) {
    if (id === builtInElapsed) return 'elapsed'
    return builtInDates.some(([first, last]) => id >= first && id <= last) ? 'date' : 'number'
  }
  const bare = code.slice(0, codeCharacters).replace(/"[^"]*"|\\.|_.|\*./g, '')
  if (/\[(h+|m+|s+)\]/i.test(bare)) return 'elapsed'
  return /[dmyhs]/i.test(bare.replace(/\[[^\]]*\]/g, '')) ? 'date' : 'number'
}

/** Whole numbers stay as they are; others are rounded to the 15 digits that spreadsheet programs show. Never with an exponent. */
export function numberText(raw: string): string {
  if (!isNumber(raw) || /^-?\d+$/.test(raw)) return raw
  const value = Number(raw)
  return Number.isFinite(value) ? plain(String(Number(value.toPrecision(15)))) : raw
}

/** Longer ones are texts: no program writes them. */
const numberCharacters = 400
const isNumber = (raw: string): boolean =>
  raw.length <= numberCharacters && /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i.test(raw)

const dayMs = 86_400_000
const epoch1904 = Date.UTC(1904, 0, 1)
const epoch1900 = Date.UTC(1899, 11, 30)
/** 1900 counts as a leap year: days before its made-up 29 February are one off. */
const madeUpDay = 60
const year10000 = Date.UTC(10_000, 0, 1)

/**
 * A day number as YYYY-MM-DD, with " HH:MM:SS" when it is not midnight; below one day only the time. With `elapsed` the hours go on
 * beyond 24. What is no such number stays the number that it is.
 */
export function dateText(raw: string, format: 'date' | 'elapsed', is1904: boolean): string {
  const days = isNumber(raw) ? Number(raw) : Number.NaN
  const ms = Math.round(days * dayMs)
  const epoch = is1904 ? epoch1904 : epoch1900 + (days < madeUpDay ? dayMs : 0)
  if (!(days >= 0 && epoch + ms < year10000)) return numberText(raw)
  if (format === 'elapsed') return `${String(Math.floor(ms / 3_600_000)).padStart(2, '0')}${timeOf(ms).slice(2)}`
  if (ms < dayMs) return timeOf(ms)
  const date = new Date(epoch + ms).toISOString().slice(0, 10)
  return ms % dayMs === 0 ? date : `${date} ${timeOf(ms)}`
}

/** A date that is stored in the form of ISO 8601. */
export const isoDateText = (raw: string): string => raw.replace(/T00:00:00(\.0+)?Z?$|Z$/, '').replace('T', ' ')

/** Characters that XML cannot hold are written as _xHHHH_. */
export const unescapedText = (text: string): string =>
  text.replace(/_x([0-9A-Fa-f]{4})_/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))

/** Of the day: HH:MM:SS, with milliseconds when there are any. */
const timeOf = (ms: number): string =>
  new Date(ms % dayMs)
    .toISOString()
    .slice(11, 23)
    .replace(/\.000$/, '')

function plain(number: string): string {
  const [, sign = '', first = '', rest = '', exponent = ''] = /^(-?)(\d)(?:\.(\d+))?e([+-]\d+)$/.exec(number) ?? []
  if (exponent === '') return number
  const point = Number(exponent) + 1
  // an exponent is written only where the point lies outside of the digits
  return point > 0 ? sign + (first + rest).padEnd(point, '0') : `${sign}0.${'0'.repeat(-point)}${first}${rest}`
}
