import type { Bar, BarKind } from './lane-layout.ts'

/** How lanes lie on the screen, px; times in ms. */
export interface LaneScale {
  readonly from: number
  readonly to: number
  readonly width: number
  /** From one lane to the next. */
  readonly pitch: number
}

/** Beside the lanes; fits an id that nobody chose, of a host with a short name. */
export const namesWidth = 148

/** Above the first lane and below the last one. */
export const lanePad = 3
const tallest = 10
const shortest = 3
/** What the lanes of one worker may take before they get thinner. */
const compactGroup = 44
const expandedPitch = 12
/** A name needs a line. */
const leastGroup = 26

export const pitchOf = (lanes: number, expanded: boolean): number =>
  expanded ? expandedPitch : Math.min(tallest, Math.max(shortest, Math.floor(compactGroup / lanes)))

export const groupHeight = (lanes: number, pitch: number): number => Math.max(leastGroup, lanes * pitch + 2 * lanePad)

export const xOf = (at: number, { from, to, width }: LaneScale): number =>
  ((at - from) / Math.max(1, to - from)) * width

/** Between one attempt and the next of the same lane. */
const gapPx = 1.5
const leastPx = 1.5

/** Where a bar is drawn; undefined when it is out of the picture. */
export function spanOf(bar: Pick<Bar, 'from' | 'until'>, scale: LaneScale): readonly [number, number] | undefined {
  const start = Math.max(0, xOf(bar.from, scale))
  const end = Math.min(scale.width, xOf(bar.until, scale))
  if (end < 0 || start > scale.width) return undefined
  return [start, Math.max(start + leastPx, end - gapPx)]
}

/** One path for all bars of a kind: two thousand elements would cost a frame each time that they move. */
export function pathsOf(bars: readonly Bar[], scale: LaneScale): Map<BarKind, string> {
  const paths = new Map<BarKind, string>()
  const height = scale.pitch >= 3 ? scale.pitch - 1 : scale.pitch
  for (const bar of bars) {
    const span = spanOf(bar, scale)
    if (!span) continue
    const box = { x: span[0], end: span[1], y: lanePad + bar.lane * scale.pitch, height }
    paths.set(bar.kind, (paths.get(bar.kind) ?? '') + barPath(bar.kind, box))
  }
  return paths
}

export interface Box {
  readonly x: number
  readonly end: number
  readonly y: number
  readonly height: number
}

/** Smaller than this there is no room for an end cap. */
const leastForCap = { width: 9, height: 5 }

/**
 * The end of a bar says how the attempt ended, for those who do not tell colours apart: square = well, step = in part, notch = to be
 * retried, block = failed, dashes = its lease ran out, slant = cancelled, frame = handed back, point = it runs.
 */
export function barPath(kind: BarKind, box: Box): string {
  const { x, end, y, height } = box
  if (end - x < leastForCap.width || height < leastForCap.height) return rect(x, end, y, height)
  const middle = y + height / 2
  const bottom = y + height
  switch (kind) {
    case 'SUCCESS':
      return rect(x, end, y, height)
    case 'PARTIAL_SUCCESS':
      return shape([x, y], [end - 4, y], [end - 4, middle], [end, middle], [end, bottom], [x, bottom])
    case 'RETRY':
      return shape([x, y], [end, y], [end - 3.5, middle], [end, bottom], [x, bottom])
    case 'FAILED':
      return rect(x, end - 4.5, y, height) + rect(end - 2.5, end, y, height)
    case 'LEASE_EXPIRED':
      return rect(x, end - 7, y, height) + rect(end - 5.5, end - 4, y, height) + rect(end - 2, end, y, height)
    case 'CANCELLED':
      return shape([x, y], [end, y], [end - 5, bottom], [x, bottom])
    case 'HANDED_BACK':
      return (
        rect(x, end, y, height) + shape([x + 1, y + 1], [x + 1, bottom - 1], [end - 1, bottom - 1], [end - 1, y + 1])
      )
    case 'RUNNING':
      return shape([x, y], [end - 3.5, y], [end, middle], [end - 3.5, bottom], [x, bottom])
    case 'CANCEL_REQUESTED':
      return (
        rect(x, end - 6, y, height) +
        shape([end - 4.5, y], [end - 3.5, y], [end, middle], [end - 3.5, bottom], [end - 4.5, bottom])
      )
  }
}

const n = (value: number): string => String(Math.round(value * 10) / 10)
const rect = (x: number, end: number, y: number, height: number): string =>
  `M${n(x)} ${n(y)}H${n(end)}V${n(y + height)}H${n(x)}z`
const shape = (...points: readonly (readonly [number, number])[]): string =>
  `M${points.map(([x, y]) => `${n(x)} ${n(y)}`).join('L')}z`

/** Nearer than this counts as hit, px. */
const hitPx = 3

/** The bar at a point of the group; the nearest one when several are close. */
export function barAt(
  bars: readonly Bar[],
  point: { readonly x: number; readonly y: number },
  scale: LaneScale
): Bar | undefined {
  const lane = Math.floor((point.y - lanePad) / scale.pitch)
  const near = bars.flatMap((bar) => {
    const span = bar.lane === lane ? spanOf(bar, scale) : undefined
    if (!span) return []
    const distance = Math.max(0, span[0] - point.x, point.x - span[1])
    return distance <= hitPx ? [{ bar, distance }] : []
  })
  return near.sort((a, b) => a.distance - b.distance)[0]?.bar
}

const tickSteps = [5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800].map((seconds) => seconds * 1_000)

/** Round moments inside the picture, about one for `pxPerTick`. */
export function laneTicks({ from, to, width }: LaneScale, pxPerTick = 110): number[] {
  const wanted = Math.max(1, Math.floor(width / pxPerTick))
  const step = tickSteps.find((one) => (to - from) / one <= wanted) ?? 3_600_000
  const first = Math.ceil(from / step) * step
  return Array.from({ length: Math.max(0, Math.floor((to - first) / step) + 1) }, (_, i) => first + i * step)
}

export type Direction = 'left' | 'right' | 'up' | 'down'

/** Where an arrow key leads from one bar: along its lane in time, or to the bar of the next lane that is nearest in time. */
export function neighbour(bars: readonly Bar[], current: Bar, direction: Direction): Bar | undefined {
  if (direction === 'left' || direction === 'right') {
    const lane = bars.filter((bar) => bar.lane === current.lane).sort((a, b) => a.from - b.from)
    const at = lane.findIndex((bar) => bar.key === current.key)
    return lane[direction === 'left' ? at - 1 : at + 1]
  }
  const step = direction === 'up' ? -1 : 1
  const last = bars.reduce((most, bar) => Math.max(most, bar.lane), 0)
  for (let lane = current.lane + step; lane >= 0 && lane <= last; lane += step) {
    const found = nearestTo(
      bars.filter((bar) => bar.lane === lane),
      current.from
    )
    if (found) return found
  }
  return undefined
}

export function nearestTo(bars: readonly Bar[], at: number): Bar | undefined {
  return [...bars].sort((a, b) => Math.abs(a.from - at) - Math.abs(b.from - at))[0]
}
