import { expect, it } from 'vitest'
import { temporaryFile } from '../temporary-file.fixture.ts'
import { readSheetRows } from './sheet-rows.ts'
import { allOf, row, text, workbookOf, zipOf, type WorkbookContent, type ZipPart } from './workbook.fixture.ts'

const rows = row(text('a')) + row(text('1'))
const book = (change: Partial<WorkbookContent>): Buffer => workbookOf({ sheets: [{ name: 'S', rows }], ...change })
const sheetPart = (content: string | Buffer, claims?: ZipPart['claims']): Buffer =>
  book({ parts: [{ path: 'xl/worksheets/sheet0.xml', content, ...(claims && { claims }) }] })
const sheetXml = (inside: string): string => `<worksheet><sheetData>${inside}</sheetData></worksheet>`
const toNowhere = '<Relationships><Relationship Id="rId0" Type="x/worksheet" Target="nowhere.xml"/></Relationships>'
const mebibyte = 1024 * 1024

const read = (content: string | Buffer): Promise<unknown[]> =>
  allOf(readSheetRows({ file: temporaryFile(content) }, new AbortController().signal))

const billionLaughs = `<!DOCTYPE x [<!ENTITY a "lol"><!ENTITY b "&a;&a;&a;&a;">]>${sheetXml('<row><c t="str"><v>&b;</v></c></row>')}`

it.each<[what: string, code: string, message: string, content: () => string | Buffer]>([
  ['a text', 'FILE_NOT_XLSX', 'another kind of file', () => 'order_no,amount\n1,2\n'],
  ['an empty file', 'FILE_NOT_XLSX', 'another kind of file', () => ''],
  [
    'an old workbook, or one with a password',
    'FILE_NOT_XLSX',
    'old .xls workbook, or protected by a password',
    () => Buffer.from('d0cf11e0a1b11ae1', 'hex')
  ],
  ['an archive of other things', 'FILE_NOT_XLSX', 'holds no workbook', () => zipOf([{ path: 'a', content: 'a' }])],
  ['a workbook without sheets', 'FILE_NOT_XLSX', 'holds no worksheet', () => book({ sheets: [] })],
  [
    'an archive with a password',
    'FILE_NOT_XLSX',
    'protected by a password',
    () => sheetPart(sheetXml(rows), { isEncrypted: true })
  ],
  ['half a file', 'WORKBOOK_DAMAGED', 'damaged', () => book({}).subarray(0, 600)],
  [
    'a part that is gone',
    'WORKBOOK_DAMAGED',
    'xl/nowhere.xml is missing',
    () => book({ parts: [{ path: 'xl/_rels/workbook.xml.rels', content: toNowhere }] })
  ],
  ['a wrong checksum', 'WORKBOOK_DAMAGED', 'checksum', () => sheetPart(sheetXml(rows), { crc: 1 })],
  ['XML that does not end', 'WORKBOOK_DAMAGED', 'Unclosed root tag', () => sheetPart('<worksheet><sheetData>')],
  ['XML that is broken', 'WORKBOOK_DAMAGED', 'Unexpected close tag', () => sheetPart('<worksheet></sheet>')],
  [
    'XML that is not in UTF-8',
    'WORKBOOK_DAMAGED',
    'UTF-8',
    () => sheetPart(Buffer.from('\ufeff<worksheet/>', 'utf16le'))
  ],
  ['entities of its own', 'WORKBOOK_DAMAGED', 'document type', () => sheetPart(billionLaughs)],
  [
    'an attribute that the parser stumbles over',
    'WORKBOOK_DAMAGED',
    'attribute hasOwnProperty',
    () => sheetPart(sheetXml('<row hasOwnProperty="1" r="2"/>'))
  ],
  ['a sheet that is none', 'WORKBOOK_DAMAGED', 'no table', () => sheetPart('<chartsheet/>')],
  [
    'a text without its number',
    'WORKBOOK_DAMAGED',
    'missing',
    () => sheetPart(sheetXml('<row><c t="s"><v> </v></c></row>'))
  ],
  [
    'more names than a row can hold',
    'WORKBOOK_TOO_LARGE',
    'columns',
    () => sheetPart(sheetXml(row(...Array.from({ length: 4_097 }, (_, at) => text(`n${at}`)))))
  ],
  ['unknown entities', 'WORKBOOK_DAMAGED', 'Invalid character entity', () => sheetPart(sheetXml('&secret;'))],
  [
    'a shared text that is missing',
    'WORKBOOK_DAMAGED',
    'the text of the cell A1',
    () => sheetPart(sheetXml('<row><c r="A1" t="s"><v>7</v></c></row>'))
  ],
  ['a cell outside of any sheet', 'WORKBOOK_DAMAGED', 'at XFE1', () => sheetPart(sheetXml('<row><c r="XFE1"/></row>'))],
  [
    'a sheet that unpacks to 4 GB',
    'WORKBOOK_TOO_LARGE',
    'where 1073741824 are read',
    () => sheetPart(sheetXml(rows), { bytes: 4_000_000_000 })
  ],
  [
    'a sheet that unpacks to more than it says',
    'WORKBOOK_DAMAGED',
    'too many bytes',
    () => sheetPart(sheetXml(' '.repeat(20 * mebibyte)), { bytes: 1_000 })
  ],
  [
    'parts that unpack to too much together',
    'WORKBOOK_TOO_LARGE',
    'where 1073741824 are read',
    () =>
      book({
        parts: [
          { path: 'xl/styles.xml', content: '<s/>'.padEnd(mebibyte) },
          { path: 'xl/worksheets/sheet0.xml', content: sheetXml(rows), claims: { bytes: 1023.5 * mebibyte } }
        ]
      })
  ],
  [
    'more shared texts than memory is for',
    'WORKBOOK_TOO_LARGE',
    'where 67108864 are read',
    () => book({ texts: '<si><t>a</t></si>'.repeat(4 * mebibyte) })
  ],
  [
    'a list of formats that is too long',
    'WORKBOOK_TOO_LARGE',
    'where 16777216 are read',
    () => book({ styles: '<xf/>'.repeat(4 * mebibyte) })
  ],
  [
    'more parts than can be listed',
    'WORKBOOK_TOO_LARGE',
    'more parts',
    () => book({ parts: Array.from({ length: 70 }, (_, at) => ({ path: `${at}`.padEnd(60_000, 'x'), content: '' })) })
  ],
  [
    'more rows than the format has',
    'WORKBOOK_TOO_LARGE',
    'more than 1048576 rows',
    () => sheetPart(sheetXml('<row/>'.repeat(1_048_577)))
  ],
  ['elements too deep', 'WORKBOOK_TOO_LARGE', 'too deep', () => sheetPart('<a>'.repeat(100_000))],
  [
    'an element of attributes',
    'WORKBOOK_TOO_LARGE',
    'too many attributes',
    () => sheetPart(`<a ${Array.from({ length: 300 }, (_, at) => `b${at}=""`).join(' ')}/>`)
  ],
  ['one endless word', 'WORKBOOK_DAMAGED', 'Max buffer length', () => sheetPart(`<${'a'.repeat(mebibyte)}/>`)]
])('refuses %s for good: %s', async (_, code, message, content) => {
  await expect(read(content())).rejects.toMatchObject({
    errorClass: 'final',
    code,
    message: expect.stringContaining(message) as string
  })
})

it('leaves it to the rules what becomes of a file that the system cannot read', async () => {
  const gone = allOf(readSheetRows({ file: `${temporaryFile('')}.gone` }, new AbortController().signal))
  await expect(gone).rejects.toMatchObject({ code: 'ENOENT' })
})
