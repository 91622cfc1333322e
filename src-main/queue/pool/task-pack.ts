import type { PoolJob } from './pool-job.ts'
import { threadLimits } from './protocol.ts'
import { quickMs } from './thread-need.ts'
import type { TypeDurations } from './type-durations.ts'

/** How many of the next tasks go to one of `threads` free threads: one, or several when all are known to be quick. */
export function packSize(queue: readonly PoolJob[], durations: TypeDurations, threads: number): number {
  const share = Math.ceil(queue.length / threads)
  const most = Math.min(threadLimits.batch, Math.max(1, share))
  let size = 0
  let expectedMs = 0
  while (size < most) {
    const next = queue[size]
    if (!next) break
    expectedMs += durations.meanMs(next.claimed.type)
    if (size > 0 && expectedMs > quickMs) break
    size++
  }
  return size
}
