import { count, duration, unknown } from '@/shared/format/format.ts'

const thin = '\u2009'

/** A rate a second, in the unit that reads well: 18.1 /s, 22 /min, 0.4 /min. */
export function rate(perSecond: number | null): string {
  if (perSecond === null) return unknown
  if (!Number.isFinite(perSecond)) return '∞'
  if (perSecond >= 99.95) return `${count(perSecond)}${thin}/s`
  if (perSecond >= 1) return `${Number(perSecond.toFixed(1))}${thin}/s`
  const perMinute = perSecond * 60
  return `${perMinute >= 9.95 ? count(perMinute) : Number(perMinute.toFixed(1))}${thin}/min`
}

/** A wait that may have no end. */
export const wait = (ms: number | null): string => (ms === Number.POSITIVE_INFINITY ? '∞' : duration(ms))

/** Attempts a task, slots: few digits. */
export const factor = (value: number | null, digits = 1): string =>
  value === null ? unknown : String(Number(value.toFixed(value >= 99.95 ? 0 : digits)))
