import type { WorkerLogLine } from '../../contract/index.ts'

const keptLines = 200

/** The worker's newest lines, and those that the page has not been sent yet. */
export class LogBatch {
  private readonly redact: (text: string) => string
  private lines: WorkerLogLine[] = []
  private unsent: WorkerLogLine[] = []
  private lastSeq = 0

  constructor(redact: (text: string) => string) {
    this.redact = redact
  }

  add(line: Omit<WorkerLogLine, 'seq'>): void {
    const clean = { ...line, seq: ++this.lastSeq, message: this.redact(line.message) }
    this.lines = [...this.lines, clean].slice(-keptLines)
    this.unsent = [...this.unsent, clean].slice(-keptLines)
  }

  /** What has become sensitive since they came is hidden too. */
  newest(): WorkerLogLine[] {
    return this.lines.map((line) => ({ ...line, message: this.redact(line.message) }))
  }

  takeUnsent(): WorkerLogLine[] {
    const lines = this.unsent
    this.unsent = []
    return lines
  }
}
