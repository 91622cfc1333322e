import type { ReadingNumbers } from '@contract'

export type Drain =
  { kind: 'empty' } | { kind: 'drains'; ms: number } | { kind: 'grows'; perMinute: number } | { kind: 'steady' }

/** Where the queue is going at the pace of the last minute. A net change within 5 % of the arrivals is none. */
export function drainOf(numbers: Pick<ReadingNumbers, 'waiting' | 'in1m' | 'out1m'>): Drain {
  if (numbers.waiting === 0) return { kind: 'empty' }
  const net = numbers.in1m - numbers.out1m
  if (Math.abs(net) <= Math.max(1, 0.05 * numbers.in1m)) return { kind: 'steady' }
  return net > 0 ? { kind: 'grows', perMinute: net } : { kind: 'drains', ms: (numbers.waiting / -net) * 60_000 }
}
