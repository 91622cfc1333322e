import { deadlineStates, leasedStates, waitingStates, type TaskState } from '../../kernel/index.ts'

/*
 * Statements are a small closed set of texts: a server keeps each prepared text once per connection. What varies is the
 * length of lists, so lists come in powers of two, filled up with their last value, which changes nothing for IN.
 */

const inList = (states: readonly TaskState[]): string => states.map((state) => `'${state}'`).join(', ')

/** For `state IN (…)`. */
export const waiting = inList(waitingStates)
export const underDeadline = inList(deadlineStates)
export const leased = inList(leasedStates)

/** `?, ?, ?` */
export const marks = (count: number, one = '?'): string => Array.from({ length: count }, () => one).join(', ')

/** The values, repeated at the end up to the next power of two, 2 at least: a row IN of one tuple is read as a full scan. */
export function padded<T>(values: readonly T[]): T[] {
  const last = values.at(-1)
  if (last === undefined) return []
  const all = [...values]
  for (const length = paddedLength(values.length); all.length < length;) all.push(last)
  return all
}

export function paddedLength(count: number): number {
  let length = 2
  while (length < count) length *= 2
  return length
}

/** Remembers what `build` made for each length. */
export function perLength(build: (length: number) => string): (length: number) => string {
  const known = new Map<number, string>()
  return (length) => {
    const text = known.get(length) ?? build(length)
    known.set(length, text)
    return text
  }
}

/** Parts of at most `size`, in order. */
export function chunksOf<T>(values: readonly T[], size: number): T[][] {
  const chunks: T[][] = []
  for (let start = 0; start < values.length; start += size) chunks.push(values.slice(start, start + size))
  return chunks
}

/** Parts whose sizes are powers of two up to `largest`, so that multi-row inserts of any length need few texts. */
export function powerChunks<T>(values: readonly T[], largest: number): T[][] {
  const chunks: T[][] = []
  let start = 0
  for (let size = largest; size >= 1; size /= 2)
    while (values.length - start >= size) {
      chunks.push(values.slice(start, start + size))
      start += size
    }
  return chunks
}
