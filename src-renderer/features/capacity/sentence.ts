import { capacityOf, drainOf, type Bottleneck, type CapacityInputs } from './model.ts'
import type { UntakenType } from './untaken.ts'

export type CapacityTone = 'well' | 'warn' | 'bad' | 'plain'

/** What matters most about what the queue can do. Rates are a second. */
export type CapacitySentence =
  | { readonly kind: 'noWorkers'; readonly waiting: number }
  /** No worker, and no task. */
  | { readonly kind: 'nothingToDo' }
  /** Tasks of a type wait that nobody takes, though slots are free; and so it is with so many other types. */
  | { readonly kind: 'untaken'; readonly type: string; readonly waiting: number; readonly others: number }
  /** Which number is missing for a forecast. */
  | { readonly kind: 'unknown'; readonly missing: 'duration' | 'claims' | 'others' | 'slots' }
  | { readonly kind: 'over'; readonly bottleneck: Bottleneck; readonly throughput: number; readonly growth: number }
  | {
      readonly kind: 'tight' | 'room'
      readonly bottleneck: Bottleneck
      readonly throughput: number
      readonly use: number
    }
  | { readonly kind: 'idle'; readonly bottleneck: Bottleneck; readonly throughput: number }

/** Above this share queues form by chance alone. */
export const tightUse = 0.85

export const toneOf: Readonly<Record<CapacitySentence['kind'], CapacityTone>> = {
  noWorkers: 'bad',
  nothingToDo: 'plain',
  untaken: 'warn',
  unknown: 'plain',
  over: 'bad',
  tight: 'warn',
  room: 'well',
  idle: 'plain'
}

export function decideSentence(inputs: CapacityInputs, untaken: readonly UntakenType[]): CapacitySentence {
  if (inputs.workers === 0)
    return inputs.waiting === 0 && inputs.arrivals === 0
      ? { kind: 'nothingToDo' }
      : { kind: 'noWorkers', waiting: inputs.waiting ?? 0 }
  const [first] = untaken
  if (first) return { kind: 'untaken', ...first, others: untaken.length - 1 }
  const { throughput, bottleneck, use } = capacityOf(inputs)
  if (throughput === null || bottleneck === null || use === null) return { kind: 'unknown', missing: missingIn(inputs) }
  const drain = drainOf(inputs)
  if (use >= 1) return { kind: 'over', bottleneck, throughput, growth: drain.kind === 'grows' ? drain.rate : 0 }
  if (inputs.arrivals === 0) return { kind: 'idle', bottleneck, throughput }
  return { kind: use > tightUse ? 'tight' : 'room', bottleneck, throughput, use }
}

function missingIn({
  slots,
  durationMs,
  attempts,
  taken,
  claimMs
}: CapacityInputs): 'duration' | 'claims' | 'others' | 'slots' {
  if (slots === null) return 'slots'
  if (durationMs === null || attempts === null) return 'duration'
  if (taken.slots === null || taken.rate === null) return 'others'
  return claimMs === null ? 'claims' : 'duration'
}
