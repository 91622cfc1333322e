import type { RawTask } from '../raw-loop.ts'

/** What every side of the bench runs: a built-in handler that does nothing, in a thread. */
export const benchTask: RawTask = { type: 'sleep', payload: '{"ms":0}', result: '{"sleptMs":0}' }

export type ToProcess =
  | { readonly mode: 'idle' | 'stop' }
  /** `batch`: tasks that it holds at once. */
  | { readonly mode: 'engine' | 'raw'; readonly batch: number }
  /** The peer's process only: puts so many tasks into its empty table. */
  | { readonly mode: 'fill'; readonly count: number }

export type FromProcess = { readonly kind: 'ready' } | { readonly kind: 'done'; readonly count: number }
