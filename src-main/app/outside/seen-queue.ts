import type { AlertState, ConnectionView, Tick } from '../../contract/index.ts'

/** One connection as the app sees it now. */
export interface SeenQueue {
  readonly view: ConnectionView
  /** The newest reading of this run. */
  readonly tick: Tick | undefined
  /** Since that reading came; null without one. By the monotonic clock: a clock that jumps makes nothing younger. */
  readonly ageMs: number | null
  /** undefined while rules were not evaluated. */
  readonly alerts: AlertState | undefined
}

/** Figures of an older reading are not shown as if they were of now. Readings are at most half a minute apart, and have their deadline. */
export const figuresHoldMs = 90_000

/** null while the first attempt to reach it is under way: that is neither up nor down. */
export function linkUp({ link }: ConnectionView): boolean | null {
  return link.status === 'connecting' ? null : link.status === 'live'
}

/** Whether its newest reading says how the queue is now. */
export function hasFigures(queue: SeenQueue): queue is SeenQueue & { readonly tick: Tick; readonly ageMs: number } {
  return linkUp(queue.view) === true && queue.tick !== undefined && (queue.ageMs ?? Infinity) <= figuresHoldMs
}
