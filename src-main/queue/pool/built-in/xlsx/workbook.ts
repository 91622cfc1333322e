import { posix } from 'node:path'
import { FinalError } from '../../handler.ts'
import { formatOf, type CellFormat } from './cell-text.ts'
import { workbookLimits } from './limits.ts'
import { TextCollector } from './text-collector.ts'
import { notXlsx } from './workbook-errors.ts'
import type { WorkbookParts } from './workbook-parts.ts'
import { readXml } from './xml-parser.ts'

/** Where the rows of a sheet are, and what its cells refer to. */
export interface SheetSource {
  readonly path: string
  /** Shared texts, by number. */
  readonly texts: readonly string[]
  /** By a cell's style. */
  readonly formats: readonly CellFormat[]
  /** Days are counted from 1904 on. */
  readonly is1904: boolean
}

interface Relation {
  readonly id: string
  /** The last word of its type: worksheet, styles, ... */
  readonly kind: string
  readonly path: string
}

interface SheetEntry {
  readonly name: string
  readonly relationId: string
  readonly isHidden: boolean
}

/** The sheet of that name (capitals are not told apart), or the first that is visible. Throws as `WorkbookParts` does, and SHEET_MISSING. */
export async function findSheet(parts: WorkbookParts, name: string | undefined): Promise<SheetSource> {
  const workbookPath = (await relationsOf(parts, '')).find(({ kind }) => kind === 'officeDocument')?.path
  if (workbookPath === undefined) throw notXlsx('it holds no workbook')
  if (!workbookPath.endsWith('.xml')) throw notXlsx('it is a workbook of another kind, such as .xlsb')
  const relations = await relationsOf(parts, workbookPath)
  const { sheets, is1904 } = await readSheetList(parts, workbookPath)
  const worksheets = new Map(relations.filter(({ kind }) => kind === 'worksheet').map(({ id, path }) => [id, path]))
  const sheet = choose(
    sheets.filter(({ relationId }) => worksheets.has(relationId)),
    name
  )
  const pathOf = (wanted: string): string | undefined => relations.find(({ kind }) => kind === wanted)?.path
  return {
    path: worksheets.get(sheet.relationId) ?? '',
    texts: await readTexts(parts, pathOf('sharedStrings')),
    formats: await readFormats(parts, pathOf('styles')),
    is1904
  }
}

function choose(sheets: readonly SheetEntry[], name: string | undefined): SheetEntry {
  const [first] = sheets
  if (!first) throw notXlsx('it holds no worksheet')
  if (name === undefined) return sheets.find(({ isHidden }) => !isHidden) ?? first
  const found = sheets.find((sheet) => sheet.name.toLowerCase() === name.toLowerCase())
  if (found) return found
  const shown = sheets.slice(0, 10).map((sheet) => `"${sheet.name}"`)
  const names = `${shown.join(', ')}${sheets.length > shown.length ? ', ...' : ''}`
  throw new FinalError('SHEET_MISSING', `The workbook has no sheet "${name}"; it has ${names}.`)
}

/** The parts that a part refers to. */
async function relationsOf(parts: WorkbookParts, owner: string): Promise<readonly Relation[]> {
  const { dir, base } = posix.parse(owner)
  const path = posix.join(dir, '_rels', `${base}.rels`)
  const relations: Relation[] = []
  if (!parts.has(path)) return relations
  await readXml(parts, small(path), {
    open(name, { Id: id, Type: type = '', Target: target, TargetMode: mode }) {
      if (name !== 'Relationship' || id === undefined || target === undefined || mode === 'External') return
      const absolute = posix.resolve('/', dir, target)
      relations.push({ id, kind: type.slice(type.lastIndexOf('/') + 1), path: absolute.slice(1) })
    }
  })
  return relations
}

async function readSheetList(
  parts: WorkbookParts,
  path: string
): Promise<{ readonly sheets: readonly SheetEntry[]; readonly is1904: boolean }> {
  const sheets: SheetEntry[] = []
  let is1904 = false
  await readXml(parts, small(path), {
    open(name, attributes) {
      if (name === 'workbookPr') is1904 = ['1', 'true'].includes(attributes['date1904'] ?? '')
      if (name !== 'sheet') return
      const relationId = Object.entries(attributes).find(([key]) => key.endsWith(':id'))?.[1] ?? ''
      const isHidden = (attributes['state'] ?? 'visible') !== 'visible'
      sheets.push({ name: attributes['name'] ?? '', relationId, isHidden })
    }
  })
  return { sheets, is1904 }
}

async function readTexts(parts: WorkbookParts, path: string | undefined): Promise<readonly string[]> {
  const texts: string[] = []
  if (path === undefined) return texts
  const collected = new TextCollector()
  await readXml(
    parts,
    { path, mostBytes: workbookLimits.textBytes },
    {
      open: (name) => collected.open(name),
      text: (piece) => collected.add(piece),
      close(name) {
        collected.close(name)
        if (name === 'si') texts.push(collected.take())
      }
    }
  )
  return texts
}

async function readFormats(parts: WorkbookParts, path: string | undefined): Promise<readonly CellFormat[]> {
  const codes = new Map<string, string>()
  const formats: CellFormat[] = []
  if (path === undefined) return formats
  let inCellFormats = false
  await readXml(parts, small(path), {
    open(name, { numFmtId: id = '0', formatCode: code }) {
      if (name === 'numFmt' && code !== undefined) codes.set(id, code)
      if (name === 'cellXfs') inCellFormats = true
      if (name === 'xf' && inCellFormats) formats.push(formatOf(Number(id), codes.get(id)))
    },
    close(name) {
      if (name === 'cellXfs') inCellFormats = false
    }
  })
  return formats
}

const small = (path: string) => ({ path, mostBytes: workbookLimits.partBytes })
