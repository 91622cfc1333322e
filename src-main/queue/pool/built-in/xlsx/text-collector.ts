import { unescapedText } from './cell-text.ts'
import { workbookLimits } from './limits.ts'

/** The text of a shared or an inline text: its runs joined, without the readings (rPh) of East Asian characters. */
export class TextCollector {
  private text = ''
  private isIn = false
  private isReading = false

  open(name: string): void {
    if (name === 'rPh') this.isReading = true
    else if (name === 't') this.isIn = !this.isReading
  }

  close(name: string): void {
    if (name === 'rPh') this.isReading = false
    else if (name === 't') this.isIn = false
  }

  /** What is beyond the limit of a row is not kept: the row is too long in any case. */
  add(piece: string): void {
    if (this.isIn && this.text.length < workbookLimits.rowCharacters) this.text += piece
  }

  take(): string {
    const text = unescapedText(this.text)
    this.text = ''
    return text
  }
}
