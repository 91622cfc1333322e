import { taskLimits } from '../../../kernel/index.ts'

/** Rows of the report at most, and their bytes: an artifact's limit less room for what is said of the rest, which is counted. */
const maxRows = 50_000
const maxBytes = taskLimits.artifactBytes - 1_024
const lineEnd = '\r\n'

/** The list of rejected rows as a CSV file that a spreadsheet can open without running anything in it. */
export class ImportReport {
  private readonly lines = ['row,reason,data']
  private bytes = 0
  private beyond = 0
  rejected = 0

  add(rowNumber: number, reason: string, data: string): void {
    this.rejected++
    const line = `${rowNumber},${cell(reason)},${cell(data)}`
    const bytes = this.bytes + Buffer.byteLength(line) + lineEnd.length
    if (this.lines.length > maxRows || bytes > maxBytes) return void this.beyond++
    this.bytes = bytes
    this.lines.push(line)
  }

  toCsv(): string {
    const more = this.beyond > 0 ? [`,${cell(`${this.beyond} more rejected rows are not listed`)},`] : []
    return `${[...this.lines, ...more].join(lineEnd)}${lineEnd}`
  }
}

/** Quoted; a text that a spreadsheet would take for a formula gets an apostrophe. */
function cell(text: string): string {
  const harmless = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return `"${harmless.replaceAll('"', '""')}"`
}
