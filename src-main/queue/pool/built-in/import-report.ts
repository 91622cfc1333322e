/** Rows of the report at most; what is beyond is counted and said. */
const maxRows = 50_000

/** The list of rejected rows as a CSV file that a spreadsheet can open without running anything in it. */
export class ImportReport {
  private readonly lines = ['row,reason,data']
  private beyond = 0
  rejected = 0

  add(rowNumber: number, reason: string, data: string): void {
    this.rejected++
    if (this.lines.length > maxRows) this.beyond++
    else this.lines.push(`${rowNumber},${cell(reason)},${cell(data)}`)
  }

  toCsv(): string {
    const more = this.beyond > 0 ? [`,${cell(`${this.beyond} more rejected rows are not listed`)},`] : []
    return `${[...this.lines, ...more].join('\r\n')}\r\n`
  }
}

/** Quoted; a text that a spreadsheet would take for a formula gets an apostrophe. */
function cell(text: string): string {
  const harmless = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return `"${harmless.replaceAll('"', '""')}"`
}
