import { FinalError } from '../../handler.ts'
import { requireDistinctNames } from '../import-columns.ts'
import { dateText, isoDateText, numberText, unescapedText } from './cell-text.ts'
import { workbookLimits } from './limits.ts'
import { TextCollector } from './text-collector.ts'
import { findSheet, type SheetSource } from './workbook.ts'
import { damaged, tooLarge } from './workbook-errors.ts'
import { WorkbookParts } from './workbook-parts.ts'
import { XmlParser, type XmlAttributes, type XmlEvents } from './xml-parser.ts'

/** Which rows are read. */
export interface SheetRequest {
  /** Path of the workbook. */
  readonly file: string
  /** Name of the sheet; the first visible one when it is not given. */
  readonly sheet?: string | undefined
}

/**
 * The rows of a sheet as texts, by the names in its first row that is not empty; empty rows, and cells under no name, are left out. Holds
 * the shared texts and some rows in memory, however large the sheet is. Throws FILE_NOT_XLSX, WORKBOOK_DAMAGED, WORKBOOK_TOO_LARGE,
 * SHEET_MISSING, COLUMN_TWICE and FORMULA_WITHOUT_VALUE, all final, and the signal's reason.
 */
export async function* readSheetRows(
  { file, sheet }: SheetRequest,
  signal: AbortSignal
): AsyncGenerator<Readonly<Record<string, string>>> {
  const parts = await WorkbookParts.open(file, signal)
  try {
    const source = await findSheet(parts, sheet)
    const reader = new SheetReader(source)
    const parser = new XmlParser(reader)
    for await (const bytes of parts.read(source.path, workbookLimits.unpackedBytes)) {
      parser.write(bytes)
      yield* reader.takeRows(signal)
    }
    parser.end()
    yield* reader.takeRows(signal)
    reader.requireTable()
  } finally {
    parts.close()
  }
}

/** Texts of a row's cells by column; empty cells are not in it. */
type Cells = Map<number, string>

interface Cell {
  readonly column: number
  readonly attributes: XmlAttributes
  hasFormula: boolean
  value: string
}

class SheetReader implements XmlEvents {
  private readonly source: SheetSource
  private readonly inline = new TextCollector()
  private header: Cells | undefined
  private rows: Cells[] = []
  private cells: Cells = new Map()
  private cell: Cell | undefined
  private isInValue = false
  private hasTable = false
  private column = 0
  private rowCount = 0
  private characters = 0

  constructor(source: SheetSource) {
    this.source = source
  }

  /** What has been read since the last call. A record is made only when it is asked for: with thousands of columns it is large. */
  *takeRows(signal: AbortSignal): Generator<Readonly<Record<string, string>>> {
    const rows = this.rows
    this.rows = []
    for (const cells of rows) {
      signal.throwIfAborted()
      yield Object.fromEntries([...(this.header ?? [])].map(([column, name]) => [name, cells.get(column) ?? '']))
    }
  }

  /** Throws for a part that is no worksheet. */
  requireTable(): void {
    if (!this.hasTable) throw damaged('its sheet holds no table')
  }

  open(name: string, attributes: XmlAttributes): void {
    if (name === 'sheetData') this.hasTable = true
    else if (name === 'row') this.beginRow()
    else if (name === 'c') this.beginCell(attributes)
    else if (name === 'v') this.isInValue = true
    else if (name === 'f' && this.cell) this.cell.hasFormula = true
    else this.inline.open(name)
  }

  close(name: string): void {
    if (name === 'v') this.isInValue = false
    else if (name === 'c') this.endCell()
    else if (name === 'row') this.endRow()
    else this.inline.close(name)
  }

  text(piece: string): void {
    const { cell } = this
    if (!cell || !this.isInValue) this.inline.add(piece)
    else if (cell.value.length < workbookLimits.rowCharacters) cell.value += piece
  }

  private beginRow(): void {
    if (++this.rowCount > workbookLimits.rows) throw tooLarge(`more than ${workbookLimits.rows} rows`)
    this.column = 0
    this.characters = 0
  }

  private beginCell(attributes: XmlAttributes): void {
    const { r: reference } = attributes
    this.column = reference === undefined ? this.column + 1 : columnOf(reference)
    if (this.column < 1 || this.column > workbookLimits.columns)
      throw damaged(`no cell can be at ${reference ?? 'a row’s end'}`)
    this.cell = { column: this.column, attributes, hasFormula: false, value: '' }
  }

  private endCell(): void {
    const { cell } = this
    if (!cell) return
    this.cell = undefined
    const inlineText = this.inline.take()
    if (this.header && !this.header.has(cell.column)) return
    // what is beyond the limit is not kept: the row is too long in any case
    const room = workbookLimits.rowCharacters - this.characters
    const text = this.textOf(cell, inlineText).slice(0, room)
    this.characters += text.length
    if (text !== '') this.cells.set(cell.column, text)
  }

  private endRow(): void {
    if (this.cells.size === 0) return
    if (this.header) this.rows.push(this.cells)
    else this.beginTable(this.cells)
    this.cells = new Map()
  }

  private beginTable(names: Cells): void {
    if (names.size > workbookLimits.namedColumns) throw tooLarge(`more than ${workbookLimits.namedColumns} columns`)
    requireDistinctNames([...names.values()])
    this.header = names
  }

  private textOf(cell: Cell, inlineText: string): string {
    const { value } = cell
    const { t: type = 'n' } = cell.attributes
    if (type === 'inlineStr') return inlineText
    if (type === 'str') return unescapedText(value)
    if (value === '') return cell.hasFormula ? formulaWithoutValue(cell) : ''
    if (type === 's') return (/^\d+$/.test(value) ? this.source.texts[Number(value)] : undefined) ?? missingText(cell)
    if (type === 'b') return value === '1' ? 'TRUE' : 'FALSE'
    if (type === 'd') return isoDateText(value)
    if (type === 'e') return value
    const format = this.source.formats[Number(cell.attributes['s'] ?? 0)] ?? 'number'
    return format === 'number' ? numberText(value) : dateText(value, format, this.source.is1904)
  }
}

/** 28 for AB7; 0 when there is no letter. */
function columnOf(reference: string): number {
  let column = 0
  for (const letter of /^[A-Z]*/.exec(reference)?.[0] ?? '') column = column * 26 + letter.charCodeAt(0) - 64
  return column
}

const whereIs = ({ attributes: { r: reference }, column }: Cell): string => reference ?? `in column ${column}`

function formulaWithoutValue(cell: Cell): never {
  const message = `The formula of the cell ${whereIs(cell)} was never calculated: open the workbook in a spreadsheet program and save it.`
  throw new FinalError('FORMULA_WITHOUT_VALUE', message)
}

function missingText(cell: Cell): never {
  throw damaged(`the text of the cell ${whereIs(cell)} is missing`)
}
