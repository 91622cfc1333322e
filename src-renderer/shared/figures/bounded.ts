import { isHeldBack, type Accuracy, type QueueReading } from '@contract'
import { count, shortCount, unknown } from '../format/format.ts'

/** A count and how it was got; null is unknown. */
export interface Bounded {
  readonly value: number | null
  readonly accuracy: Accuracy
}

/** Tasks that wait or run, of the whole queue or of one type. Of a count that was cut short nothing is known, or a least. */
export function boundedDepth(reading: QueueReading, type?: string): Bounded {
  const parts = reading.depth.filter((part) => type === undefined || part.type === type)
  const cut = isHeldBack(reading, 'depth')
  if (cut && parts.length === 0) return { value: null, accuracy: 'exact' }
  const value = parts.reduce((sum, part) => sum + part.count, 0)
  if (parts.some((part) => part.accuracy === 'about')) return { value, accuracy: 'about' }
  const least = cut || parts.some((part) => part.accuracy === 'atLeast')
  return { value, accuracy: least ? 'atLeast' : 'exact' }
}

/** 16,530, or 50,000+ for at least so many, or what `about` makes of 1.2 M; – when it is unknown. */
export function boundedText({ value, accuracy }: Bounded, about: (value: string) => string): string {
  if (value === null) return unknown
  if (accuracy === 'atLeast') return `${count(value)}+`
  return accuracy === 'about' ? about(shortCount(value).replace(/(?=[kM]$)/, '\u2009')) : count(value)
}
