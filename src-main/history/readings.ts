import { silenceMs } from '../kernel/index.ts'
import type { Buckets } from './layers.ts'

/** Which buckets have a reading, and which of the others are a gap. */
export class Readings {
  private readonly buckets: Buckets
  /** By bucket. */
  private readonly first: (number | undefined)[] = []
  private readonly last: (number | undefined)[] = []
  private before = -Infinity
  private known = { at: -Infinity, bucket: -1 }

  constructor(buckets: Buckets) {
    this.buckets = buckets
  }

  /** Negative: before the range. Called for each value: those of one reading follow each other. */
  bucketOf(at: number): number {
    if (at !== this.known.at) this.known = { at, bucket: this.note(at) }
    return this.known.bucket
  }

  private note(at: number): number {
    const bucket = Math.floor((at - this.buckets.first) / this.buckets.stepMs)
    if (bucket < 0) this.before = Math.max(this.before, at)
    else {
      this.first[bucket] = Math.min(this.first[bucket] ?? at, at)
      this.last[bucket] = Math.max(this.last[bucket] ?? at, at)
    }
    return bucket
  }

  /** Indexes of the buckets that had a reading, or in which one was due. */
  dueUntil(to: number): number[] {
    const due: number[] = []
    let silent: number[] = []
    let last = this.before
    for (let bucket = 0; bucket < this.buckets.count; bucket++) {
      const first = this.first[bucket]
      if (first === undefined) silent.push(bucket)
      else {
        due.push(...(first - last > silenceMs ? silent : []), bucket)
        silent = []
        last = this.last[bucket] ?? first
      }
    }
    return to - last > silenceMs ? [...due, ...silent] : due
  }
}
