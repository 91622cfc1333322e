import type { Accuracy, QueueReading } from './reading.ts'
import type { TaskState } from './task-state.ts'

/*
 * How the figures of a reading are put together from what statements returned, whatever table they read.
 */

/** Newest rows that a flow probe reads at most; of a busier window the rest is extrapolated from the time they span. */
export const mostFlowRows = 10_000
/** One group of the newest rows of a window. */
export interface FlowCount {
  readonly type: string
  /** '' where rows have none. */
  readonly outcome: string
  readonly count: number
  /** Age of the group's oldest row, milliseconds. */
  readonly reachedMs: number
}

/** The newest rows of the last `minutes`, at most `mostFlowRows` of them, by type and outcome. */
export class FlowWindow {
  readonly types: readonly string[]
  private readonly rows: readonly FlowCount[]
  /** Above 1 when the window holds more rows than were read. */
  private readonly scale: number

  constructor(rows: readonly FlowCount[], minutes: number) {
    this.rows = rows
    this.types = rows.map(({ type }) => type)
    const read = rows.reduce((sum, { count }) => sum + count, 0)
    const spanMs = Math.max(1, ...rows.map(({ reachedMs }) => reachedMs))
    this.scale = read < mostFlowRows ? 1 : Math.max(1, (minutes * 60_000) / spanMs)
  }

  count(type: string, outcomes: (outcome: string) => boolean = () => true): number {
    const rows = this.rows.filter((row) => row.type === type && outcomes(row.outcome))
    return Math.round(rows.reduce((sum, { count }) => sum + count, 0) * this.scale)
  }
}

/** Counts of tasks by type and state, put together from parts. */
export class DepthSum {
  private readonly parts = new Map<string, QueueReading['depth'][number]>()

  add(type: string, state: TaskState, count: number, accuracy: Accuracy = 'exact'): void {
    const key = `${state} ${type}`
    const known = this.parts.get(key)
    const sum = { type, state, count: (known?.count ?? 0) + count }
    const worst = worse(known?.accuracy ?? 'exact', accuracy)
    this.parts.set(key, worst === 'exact' ? sum : { ...sum, accuracy: worst })
  }

  get depth(): QueueReading['depth'] {
    return [...this.parts.values()]
  }
}

/** An estimate in a sum makes it one; a part that is too small makes it too small. */
function worse(a: Accuracy, b: Accuracy): Accuracy {
  if (a === 'about' || b === 'about') return 'about'
  return a === 'atLeast' || b === 'atLeast' ? 'atLeast' : 'exact'
}
