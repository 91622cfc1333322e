export interface SeededRandom {
  /** In [0, 1). */
  next(): number
  /** A whole number from 0 to below `count`. */
  below(count: number): number
  pick<T>(values: readonly T[]): T | undefined
  shuffled<T>(values: readonly T[]): T[]
}

/** mulberry32: the same choices for the same seed. */
export function seededRandom(seed: number): SeededRandom {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
  const below = (count: number): number => Math.floor(next() * count)
  return {
    next,
    below,
    pick: (values) => values[below(values.length)],
    shuffled: (values) => {
      const left = [...values]
      return values.map(() => left.splice(below(left.length), 1)[0] as (typeof values)[number])
    }
  }
}
