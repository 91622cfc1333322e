import type { ChartLine, ChartMark, ChartThreshold } from './chart-option.ts'
import type { TimeSpan } from './gaps.ts'

/** What decides how a chart looks. */
export interface ChartPicture {
  readonly theme: string
  readonly lines: readonly ChartLine[]
  readonly from: number
  readonly to: number
  readonly threshold?: ChartThreshold
  readonly marks: readonly ChartMark[]
  readonly log: boolean
  readonly selection: TimeSpan | null
}

/**
 * Whether nobody could tell the next picture from the one that is drawn: the same lines, moved by less than a pixel of `widthPx`. A tick
 * brings one point, a chart of an hour has 10 seconds in a pixel, and drawing it costs some 10 ms: most ticks need no drawing.
 */
export function looksTheSame(drawn: ChartPicture, next: ChartPicture, widthPx: number): boolean {
  if (drawn.selection !== next.selection || drawn.theme !== next.theme || drawn.log !== next.log) return false
  if (widthPx <= 0 || drawn.lines.length !== next.lines.length) return false
  const pixelMs = (drawn.to - drawn.from) / widthPx
  if (Math.abs(next.to - drawn.to) >= pixelMs || Math.abs(next.from - drawn.from) >= pixelMs) return false
  if (drawn.threshold?.value !== next.threshold?.value || !sameMarks(drawn.marks, next.marks)) return false
  return drawn.lines.every((line, i) => continues(line, next.lines[i]))
}

const sameMarks = (some: readonly ChartMark[], others: readonly ChartMark[]): boolean =>
  some.length === others.length &&
  some.every((mark, i) => {
    const other = others[i]
    return mark.kind === other?.kind && mark.from === other.from && mark.to === other.to
  })

/** The same series a little later: it is alike, and what both know is the same. */
function continues(line: ChartLine, next: ChartLine | undefined): boolean {
  if (!next || next.name !== line.name || next.colour !== line.colour || next.earlier !== line.earlier) return false
  if (line.data === next.data) return true
  if (Math.abs(next.data.length - line.data.length) > 2) return false
  const middle = Math.floor(line.data.length / 2)
  const known = line.data[middle]
  if (!known) return next.data.length === line.data.length
  // Points fall out at the start, at most as many as come in.
  return next.data
    .slice(Math.max(0, middle - 2), middle + 3)
    .some(([at, value]) => at === known[0] && value === known[1])
}
