import { crc32, deflateRawSync } from 'node:zlib'

export interface ZipPart {
  readonly path: string
  readonly content: string | Buffer
  /** What the archive says of the part, where it is not the truth. */
  readonly claims?: { readonly bytes?: number; readonly crc?: number; readonly isEncrypted?: boolean }
}

/** A zip archive of the parts, as small as the format allows. */
export function zipOf(parts: readonly ZipPart[]): Buffer {
  const bodies: Buffer[] = []
  const directory: Buffer[] = []
  let offset = 0
  for (const { path, content, claims } of parts) {
    const bytes = Buffer.from(content)
    const packed = deflateRawSync(bytes, { level: 1 })
    const name = Buffer.from(path)
    const local = Buffer.alloc(30)
    local.writeUInt32LE(0x04034b50, 0)
    local.writeUInt16LE(20, 4)
    local.writeUInt16LE(claims?.isEncrypted === true ? 1 : 0, 6)
    local.writeUInt16LE(8, 8)
    local.writeUInt32LE(claims?.crc ?? crc32(bytes), 14)
    local.writeUInt32LE(packed.length, 18)
    local.writeUInt32LE(claims?.bytes ?? bytes.length, 22)
    local.writeUInt16LE(name.length, 26)
    const entry = Buffer.alloc(46)
    entry.writeUInt32LE(0x02014b50, 0)
    local.copy(entry, 6, 4, 30)
    entry.writeUInt32LE(offset, 42)
    bodies.push(local, name, packed)
    directory.push(entry, name)
    offset += local.length + name.length + packed.length
  }
  const list = Buffer.concat(directory)
  const end = Buffer.alloc(22)
  end.writeUInt32LE(0x06054b50, 0)
  end.writeUInt16LE(parts.length, 8)
  end.writeUInt16LE(parts.length, 10)
  end.writeUInt32LE(list.length, 12)
  end.writeUInt32LE(offset, 16)
  return Buffer.concat([...bodies, list, end])
}

const types = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
const relations = (...all: readonly (readonly [id: string, kind: string, target: string])[]): string =>
  `<Relationships>${all.map(([id, kind, target]) => `<Relationship Id="${id}" Type="${types}/${kind}" Target="${target}"/>`).join('')}</Relationships>`

export interface WorkbookContent {
  /** The XML in each sheet's sheetData. */
  readonly sheets: readonly { readonly name: string; readonly rows: string; readonly state?: string }[]
  /** The XML in the shared texts, the styles and before the list of sheets. */
  readonly texts?: string
  readonly styles?: string
  readonly properties?: string
  /** Parts that take the place of those with the same path, or are there beside them. */
  readonly parts?: readonly ZipPart[]
}

/** A workbook as spreadsheet programs lay it out. */
export function workbookOf({ sheets, texts = '', styles = '', properties = '', parts = [] }: WorkbookContent): Buffer {
  const list = sheets.map(
    ({ name, state }, index) =>
      `<sheet name="${name}" sheetId="${index + 1}"${state === undefined ? '' : ` state="${state}"`} r:id="rId${index}"/>`
  )
  const own: ZipPart[] = [
    { path: '_rels/.rels', content: relations(['rId1', 'officeDocument', 'xl/workbook.xml']) },
    { path: 'xl/workbook.xml', content: `<workbook>${properties}<sheets>${list.join('')}</sheets></workbook>` },
    {
      path: 'xl/_rels/workbook.xml.rels',
      content: relations(
        ...sheets.map((_, index) => [`rId${index}`, 'worksheet', `worksheets/sheet${index}.xml`] as const),
        ['texts', 'sharedStrings', '/xl/sharedStrings.xml'],
        ['styles', 'styles', 'styles.xml']
      )
    },
    ...sheets.map(({ rows }, index) => ({
      path: `xl/worksheets/sheet${index}.xml`,
      content: `<?xml version="1.0" encoding="UTF-8"?>\n<worksheet><sheetData>${rows}</sheetData></worksheet>`
    })),
    { path: 'xl/sharedStrings.xml', content: `<sst>${texts}</sst>` },
    { path: 'xl/styles.xml', content: `<styleSheet>${styles}</styleSheet>` }
  ]
  const replaced = new Set(parts.map(({ path }) => path))
  return zipOf([...own.filter(({ path }) => !replaced.has(path)), ...parts])
}

/** A row of shared texts, dates, numbers and so on, each given as the XML of its cell. */
export const row = (...cells: readonly string[]): string => `<row>${cells.join('')}</row>`
export const text = (value: string): string => `<c t="str"><v>${escaped(value)}</v></c>`
export const cell = (value: string | number, attributes = ''): string => `<c ${attributes}><v>${value}</v></c>`
export const escaped = (value: string): string => value.replaceAll('&', '&amp;').replaceAll('<', '&lt;')

/** Shared texts as the programs write them: each once. */
export class SharedTexts {
  private readonly numbers = new Map<string, number>()

  cell(value: string): string {
    const number = this.numbers.get(value) ?? this.numbers.size
    this.numbers.set(value, number)
    return cell(number, 't="s"')
  }

  toXml(): string {
    return [...this.numbers.keys()].map((value) => `<si><t xml:space="preserve">${escaped(value)}</t></si>`).join('')
  }
}

export async function allOf<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = []
  for await (const item of items) all.push(item)
  return all
}
