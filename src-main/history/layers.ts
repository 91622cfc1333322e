import type { MetricName } from '../kernel/index.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs

export interface Layer {
  /** 0 is what was read, as it was read. */
  readonly stepMs: number
  readonly keepMs: number
}

/** From fine to coarse; each is made from the one before it. */
export const layers = [
  { stepMs: 0, keepMs: 6 * hourMs },
  { stepMs: minuteMs, keepMs: 7 * dayMs },
  { stepMs: 15 * minuteMs, keepMs: 90 * dayMs },
  // For speed alone: 30 and 90 days on a page come from 360 rows, not from 2,880 and 8,640 (`npm run bench -- history`).
  { stepMs: 2 * hourMs, keepMs: 90 * dayMs },
  { stepMs: 6 * hourMs, keepMs: 90 * dayMs }
] as const satisfies readonly Layer[]

export type Rule = 'average' | 'last' | 'max'

/**
 * How many values become one. Counts keep the last, so that a chart shows a number that the database had; the oldest
 * age and the attempts behind a rate keep the highest, so that what was short is seen in a wide range; rates, throughput and percentiles are averaged.
 */
export function ruleOf(metric: string): Rule {
  if ((['oldestMs', 'ended5m'] satisfies MetricName[]).some((one) => one === metric)) return 'max'
  return /^(depth|workers|recovered)/.test(metric) ? 'last' : 'average'
}

export interface Buckets {
  /** Start of the first bucket; a multiple of `stepMs`, so that a moving range does not shift the others. */
  readonly first: number
  readonly stepMs: number
  readonly count: number
  /** Index in `layers` of the coarsest layer that serves this step. */
  readonly layer: number
}

const seconds = [1, 2, 5, 10, 15, 30].map((n) => n * 1000)
const minutes = [1, 2, 5, 10, 15, 30].map((n) => n * minuteMs)
const steps = [...seconds, ...minutes, ...[1, 2, 3, 6, 12, 24].map((n) => n * hourMs)]

const stepOfAtLeast = (ms: number): number => steps.find((step) => step >= ms) ?? Math.ceil(ms / dayMs) * dayMs

/**
 * Buckets over [from, to], at most `maxPoints` of them, the first of which may lie behind `from` by less than its width. None is
 * finer than what is kept that far back.
 */
export function planBuckets(range: { from: number; to: number; maxPoints: number; now: number }): Buckets {
  const { from, to, now } = range
  const graceMs = 5 * minuteMs
  const kept = layers.find((layer) => from >= now - layer.keepMs - graceMs) ?? layers[layers.length - 1]
  const stepMs = stepOfAtLeast(Math.max(kept?.stepMs ?? 0, (to - from) / range.maxPoints))
  const last = Math.floor(to / stepMs)
  // One bucket too many when both ends of the range lie inside a bucket: the oldest one, which is cut off, gives way.
  const index = Math.max(Math.floor(from / stepMs), last - range.maxPoints + 1)
  const first = index * stepMs
  const count = last - index + 1
  return { first, stepMs, count, layer: layers.findLastIndex((layer) => layer.stepMs <= stepMs) }
}
