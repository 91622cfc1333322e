import type { AttemptOutcome, TaskState } from '@contract'
import { attemptKey, type LanesPicture } from './lanes-picture.ts'
import type { WorkerView } from './worker-health.ts'

/** How a bar ended, or that it has not. */
export type BarKind = AttemptOutcome | Extract<TaskState, 'RUNNING' | 'CANCEL_REQUESTED'>

/** One attempt in a lane. `until` is the picture's end for one that runs, or the last sign of life of its worker. */
export interface Bar {
  readonly key: string
  readonly taskId: string
  readonly attempt: number
  readonly type: string
  readonly kind: BarKind
  readonly from: number
  readonly until: number
  readonly lane: number
  readonly errorCode: string | null
}

/** One worker's lanes. Attempts do not say their slot, so a lane is a place that was taken by one attempt at a time. */
export interface LaneGroup {
  readonly workerId: string
  /** null: this worker has no row any more. */
  readonly view: WorkerView | null
  readonly lanes: number
  readonly bars: readonly Bar[]
  /** Since then nothing is known of it; null when it is heard of. */
  readonly silentSince: number | null
}

type Unplaced = Omit<Bar, 'lane'> & { readonly workerId: string }

/** Groups in the order of the table, then workers that are not in it. `places` remembers each attempt's lane, so that bars stay where they are. */
export function laneGroups(
  picture: LanesPicture,
  workers: readonly WorkerView[],
  places: Map<string, number>
): LaneGroup[] {
  const byWorker = new Map<string, Unplaced[]>()
  for (const bar of barsOf(picture, workers)) {
    const bars = byWorker.get(bar.workerId)
    if (bars) bars.push(bar)
    else byWorker.set(bar.workerId, [bar])
  }
  const listed = workers.filter((view) => view.condition !== 'stopped' || byWorker.has(view.row.id))
  const others = [...byWorker.keys()].filter((id) => !workers.some((view) => view.row.id === id)).sort()
  const groups = [
    ...listed.map((view) => groupOf(view.row.id, view, byWorker.get(view.row.id) ?? [], places)),
    ...others.map((id) => groupOf(id, null, byWorker.get(id) ?? [], places))
  ]
  forget(places, groups)
  return groups
}

function barsOf(picture: LanesPicture, workers: readonly WorkerView[]): Unplaced[] {
  const silent = new Map(
    workers.filter((view) => view.condition === 'lost').map((view) => [view.row.id, view.row.lastHeartbeatAt])
  )
  const ended = picture.ended.map((one): Unplaced => ({
    key: attemptKey(one),
    taskId: one.taskId,
    attempt: one.attempt,
    type: one.type,
    workerId: one.workerId,
    kind: one.outcome,
    from: one.startedAt,
    until: Math.max(one.startedAt, one.endedAt),
    errorCode: one.errorCode
  }))
  const running = picture.running.map((one): Unplaced => ({
    key: attemptKey(one),
    taskId: one.taskId,
    attempt: one.attempt,
    type: one.type,
    workerId: one.workerId,
    kind: one.state === 'CANCEL_REQUESTED' ? 'CANCEL_REQUESTED' : 'RUNNING',
    from: one.startedAt,
    until: Math.max(one.startedAt, silent.get(one.workerId) ?? picture.at),
    errorCode: null
  }))
  return [...ended, ...running]
}

function groupOf(
  workerId: string,
  view: WorkerView | null,
  bars: readonly Unplaced[],
  places: Map<string, number>
): LaneGroup {
  const placed = place(bars, places)
  const lanes = placed.reduce((most, bar) => Math.max(most, bar.lane + 1), 1)
  return {
    workerId,
    view,
    lanes,
    bars: placed,
    silentSince: view?.condition === 'lost' ? view.row.lastHeartbeatAt : null
  }
}

/** Ends are cut to the millisecond: the next attempt of a slot may seem to start before the last one's end. */
const toleranceMs = 2

/** Those with a place keep it while nothing else is there; the others get the first lane that is free for all of their time. */
function place(bars: readonly Unplaced[], places: Map<string, number>): Bar[] {
  const lanes: Bar[][] = []
  const isFree = (lane: number, bar: Unplaced): boolean =>
    !(lanes[lane] ?? []).some((one) => one.from < bar.until - toleranceMs && bar.from < one.until - toleranceMs)
  const put = (bar: Unplaced, lane: number): Bar => {
    while (lanes.length <= lane) lanes.push([])
    const { workerId: _, ...rest } = bar
    const placed = { ...rest, lane }
    lanes[lane]?.push(placed)
    places.set(bar.key, lane)
    return placed
  }
  const sorted = [...bars].sort((a, b) => a.from - b.from || a.until - b.until)
  const known = sorted.filter((bar) => places.has(bar.key))
  const fresh = sorted.filter((bar) => !places.has(bar.key))
  return [...known, ...fresh].map((bar) => {
    const before = places.get(bar.key)
    if (before !== undefined && isFree(before, bar)) return put(bar, before)
    let lane = 0
    while (!isFree(lane, bar)) lane++
    return put(bar, lane)
  })
}

function forget(places: Map<string, number>, groups: readonly LaneGroup[]): void {
  const shown = new Set(groups.flatMap((group) => group.bars.map((bar) => bar.key)))
  for (const key of places.keys()) if (!shown.has(key)) places.delete(key)
}
