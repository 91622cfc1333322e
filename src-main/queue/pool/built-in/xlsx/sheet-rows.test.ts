import { readdirSync, readlinkSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { temporaryFile } from '../temporary-file.fixture.ts'
import { readSheetRows } from './sheet-rows.ts'
import { allOf, cell, row, text, workbookOf, type WorkbookContent } from './workbook.fixture.ts'

async function read(content: WorkbookContent, sheet?: string): Promise<Readonly<Record<string, string>>[]> {
  return allOf(readSheetRows({ file: temporaryFile(workbookOf(content)), sheet }, new AbortController().signal))
}

const sheetOf = (...rows: readonly string[]): WorkbookContent => ({ sheets: [{ name: 'Sheet1', rows: rows.join('') }] })

describe('a sheet', () => {
  const sheets = [
    { name: 'Lists', state: 'hidden', rows: row(text('a')) + row(text('hidden')) },
    { name: 'Orders', rows: row(text('a')) + row(text('first')) },
    { name: 'Übersicht', rows: row(text('a')) + row(text('second')) }
  ]

  it('is the first visible one', async () => expect(await read({ sheets })).toEqual([{ a: 'first' }]))
  it('can be named', async () => expect(await read({ sheets }, 'übersicht')).toEqual([{ a: 'second' }]))
  it('that is hidden can be named', async () => expect(await read({ sheets }, 'Lists')).toEqual([{ a: 'hidden' }]))
  it('that is not there is an error which lists those that are', async () =>
    expect(read({ sheets }, 'Orderz')).rejects.toMatchObject({
      errorClass: 'final',
      code: 'SHEET_MISSING',
      message: 'The workbook has no sheet "Orderz"; it has "Lists", "Orders", "Übersicht".'
    }))

  it('with two columns of one name is refused: the value of one would be lost', async () => {
    const twice = { errorClass: 'final', code: 'COLUMN_TWICE', message: expect.stringContaining('"a"') as string }
    await expect(read(sheetOf(row(text('a'), text('b'), text('a')), row(text('1'))))).rejects.toMatchObject(twice)
  })

  it('has its names in the first row that is not empty, and no empty rows', async () => {
    const content = sheetOf(
      row(),
      row('<c/>'),
      row(text('a'), text('b')),
      row(),
      row('<c s="1"/>', '<c/>'),
      row(text('1'))
    )
    expect(await read(content)).toEqual([{ a: '1', b: '' }])
  })

  it('has each cell where its reference says, and none where there is no name', async () => {
    const head = '<c r="B2" t="str"><v>b</v></c><c r="AA2" t="str"><v>aa</v></c>'
    const cells = '<c r="A3"><v>1</v></c><c r="AA3"><v>27</v></c><c><v>28</v></c>'
    expect(await read(sheetOf(row(head), row(cells)))).toEqual([{ b: '', aa: '27' }])
  })

  it('without any row has none', async () => expect(await read(sheetOf())).toEqual([]))
})

describe('a cell', () => {
  const styles = `<numFmts><numFmt numFmtId="164" formatCode="[h]:mm"/></numFmts><cellStyleXfs><xf numFmtId="14"/></cellStyleXfs>
    <cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="164"/></cellXfs>`
  const texts = `<si><t>plain</t></si><si><r><t>ri</t></r><r><t xml:space="preserve">ch &amp; </t></r></si>
    <si><t>東京</t><rPh><t>トウキョウ</t></rPh></si><si><t><![CDATA[a<b]]></t></si>`

  it.each([
    ['a number', '<c><v>12.50</v></c>', '12.5'],
    ['a date', '<c s="1"><v>46081</v></c>', '2026-02-28'],
    ['a duration', '<c s="2"><v>1.5</v></c>', '36:00:00'],
    ['a date of ISO 8601', '<c t="d"><v>2026-02-28T00:00:00</v></c>', '2026-02-28'],
    ['a yes', '<c t="b"><v>1</v></c>', 'TRUE'],
    ['a no', '<c t="b"><v>0</v></c>', 'FALSE'],
    ['an error', '<c t="e"><f>1/0</f><v>#DIV/0!</v></c>', '#DIV/0!'],
    ['a shared text', '<c t="s"><v>0</v></c>', 'plain'],
    ['a shared text with formats in it', '<c t="s"><v>1</v></c>', 'rich & '],
    ['a shared text without its reading', '<c t="s"><v>2</v></c>', '東京'],
    ['a shared text that is marked as such', '<c t="s"><v>3</v></c>', 'a<b'],
    ['a text of its own', '<c t="inlineStr"><is><r><t>in</t></r><r><t>line</t></r></is></c>', 'inline'],
    ['the value of a formula', '<c><f>A1*2</f><v>84</v></c>', '84'],
    ['the text of a formula', '<c t="str"><f>A1&amp;"!"</f><v>hello!</v></c>', 'hello!'],
    ['the empty text of a formula', '<c t="str"><f>""</f><v></v></c>', '']
  ])('holds %s', async (_, xml, value) => {
    const rows = row(text('name'), text('key')) + row(xml, text('k'))
    expect(await read({ sheets: [{ name: 'S', rows }], texts, styles })).toEqual([{ name: value, key: 'k' }])
  })

  it('counts days from 1904 where the workbook says so', async () => {
    const rows = row(text('a')) + row(cell(44_619, 's="1"'))
    const properties = '<workbookPr date1904="1"/>'
    expect(await read({ sheets: [{ name: 'S', rows }], styles, properties })).toEqual([{ a: '2026-02-28' }])
  })

  it('whose formula was never calculated is an error, unless its column has no name', async () => {
    const never = '<c r="B2"><f>A1*2</f><v/></c>'
    expect(await read(sheetOf(row(text('a')), row(text('1'), never)))).toEqual([{ a: '1' }])
    await expect(read(sheetOf(row(text('a'), text('b')), row(text('1'), never)))).rejects.toMatchObject({
      errorClass: 'final',
      code: 'FORMULA_WITHOUT_VALUE',
      message: expect.stringContaining('the cell B2 was never calculated') as string
    })
  })
})

it('reads what writers with prefixes and the strict form of the format write', async () => {
  const purl = 'http://purl.oclc.org/ooxml/officeDocument/relationships'
  const sheet =
    '<x:worksheet xmlns:x="x"><x:sheetData><x:row><x:c t="str"><x:v>a</x:v></x:c></x:row><x:row><x:c><x:v>1</x:v></x:c></x:row></x:sheetData></x:worksheet>'
  const rows = await read({
    sheets: [],
    parts: [
      {
        path: 'xl/workbook.xml',
        content: '<x:workbook xmlns:x="x" xmlns:q="q"><x:sheets><x:sheet name="S" q:id="s"/></x:sheets></x:workbook>'
      },
      {
        path: 'xl/_rels/workbook.xml.rels',
        content: `<Relationships><Relationship Id="s" Type="${purl}/worksheet" Target="Sheets/One.xml"/></Relationships>`
      },
      { path: 'XL/sheets/one.XML', content: sheet }
    ]
  })
  expect(rows).toEqual([{ a: '1' }])
})

it.runIf(process.platform === 'linux')(
  'closes the file, whether it is read to its end, left early or broken',
  async () => {
    const open = (): string[] =>
      readdirSync('/proc/self/fd').flatMap((fd) => {
        try {
          return [readlinkSync(`/proc/self/fd/${fd}`)]
        } catch {
          return [] // closed since
        }
      })
    const rows = row(text('a')) + row(text('1')).repeat(10_000)
    const whole = temporaryFile(workbookOf({ sheets: [{ name: 'S', rows }] }))
    const broken = temporaryFile(workbookOf({ sheets: [{ name: 'S', rows: `${rows}<` }] }))
    const { signal } = new AbortController()
    expect(await allOf(readSheetRows({ file: whole }, signal))).toHaveLength(10_000)
    for await (const first of readSheetRows({ file: whole }, signal)) {
      expect(first).toEqual({ a: '1' })
      expect(open()).toContain(whole)
      break
    }
    await expect(allOf(readSheetRows({ file: broken }, signal))).rejects.toThrow()
    await expect.poll(open).not.toContain(whole)
    await expect.poll(open).not.toContain(broken)
  }
)

it('stops when it is told to, and says why', async () => {
  const rows = row(text('a')) + row(text('1')).repeat(10_000)
  const stop = new AbortController()
  const reading = async (): Promise<void> => {
    for await (const _ of readSheetRows(
      { file: temporaryFile(workbookOf({ sheets: [{ name: 'S', rows }] })) },
      stop.signal
    ))
      stop.abort(new Error('cancelled'))
  }
  await expect(reading()).rejects.toThrow('cancelled')
})
