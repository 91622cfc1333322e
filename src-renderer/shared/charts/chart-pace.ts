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
  readonly unit: string
  readonly log: boolean
  readonly selection: TimeSpan | null
}

/**
 * Whether nobody could tell the next picture from the one that is drawn: the same lines, moved by less than a pixel of `widthPx`. A tick
 * brings one point, a chart of an hour has 10 seconds in a pixel, and drawing it costs some 10 ms: most ticks need no drawing.
 */
export function looksTheSame(drawn: ChartPicture, next: ChartPicture, widthPx: number): boolean {
  if (drawn.selection !== next.selection || drawn.theme !== next.theme) return false
  if (drawn.unit !== next.unit || drawn.log !== next.log) return false
  if (widthPx <= 0 || drawn.lines.length !== next.lines.length) return false
  const pixelMs = (drawn.to - drawn.from) / widthPx
  if (Math.abs(next.to - drawn.to) >= pixelMs || Math.abs(next.from - drawn.from) >= pixelMs) return false
  const [one, other] = [drawn.threshold, next.threshold]
  if (one?.value !== other?.value || one?.label !== other?.label || !sameMarks(drawn.marks, next.marks)) return false
  return drawn.lines.every((line, i) => continues(line, next.lines[i]))
}

const sameMarks = (some: readonly ChartMark[], others: readonly ChartMark[]): boolean =>
  some.length === others.length &&
  some.every((mark, i) => {
    const other = others[i]
    return mark.kind === other?.kind && mark.from === other.from && mark.to === other.to && mark.label === other.label
  })

/** So many points come in, fall out, or may still change, from one tick to the next that is not drawn. */
const looseEnd = 2

/** The same series a little later: it is drawn alike, and what both know is the same. */
function continues(line: ChartLine, next: ChartLine | undefined): boolean {
  if (!next || next.name !== line.name || next.colour !== line.colour || next.earlier !== line.earlier) return false
  if (next.width !== line.width || next.area !== line.area || next.stack !== line.stack) return false
  if (line.data === next.data) return true
  if (line.data.length <= looseEnd) return line.data.length === 0 && next.data.length === 0
  const fellOut = line.data.findIndex(([at]) => at === next.data[0]?.[0])
  if (fellOut < 0 || fellOut > looseEnd) return false
  const known = line.data.slice(fellOut)
  if (Math.abs(next.data.length - known.length) > looseEnd) return false
  return known.slice(0, -looseEnd).every(([at, value], i) => {
    const point = next.data[i]
    return point?.[0] === at && point[1] === value
  })
}
