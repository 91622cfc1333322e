import { defineStore } from 'pinia'
import { ref, shallowRef } from 'vue'
import type { Problem } from '@contract'
import { useClient } from '@/transport/client.ts'
import { toProblem } from '@/transport/problem.ts'
import { mergeLook, type LanesPicture } from './lanes-picture.ts'

/** A look at what is new every so often, by the database's clock; a queue without ticks is not asked at all. */
const lookEveryMs = 4_000
/** An attempt is seen when its transaction is over, which may be later than the end that stands in it. */
const overlapMs = 15_000

/** Who ran what on the connection that is looked at. Asked for the whole window once, then for what is new. */
export const useLanesStore = defineStore('lanes', () => {
  const picture = shallowRef<LanesPicture | null>(null)
  const loading = ref(false)
  const problem = shallowRef<Problem | null>(null)
  let asked = 0
  /** The reading after which it was last asked, also in vain: what fails or is held back is not asked for with each reading. */
  let followed = { connectionId: '', at: 0 }

  /** The whole window. An older picture of the same connection stays until it is here. */
  async function load(connectionId: string, windowMs: number): Promise<void> {
    if (picture.value?.connectionId !== connectionId) picture.value = null
    await look(connectionId, windowMs, windowMs)
  }

  /** After a reading that was made at `at`: asks for what is new when that is worth it. */
  async function follow(connectionId: string, windowMs: number, at: number): Promise<void> {
    const known = picture.value
    const fits = known?.connectionId === connectionId && known.windowMs === windowMs
    const isSoon = followed.connectionId === connectionId && at - followed.at < lookEveryMs
    if (loading.value || isSoon || (fits && at - known.at < lookEveryMs)) return
    followed = { connectionId, at }
    if (!fits) await load(connectionId, windowMs)
    else await look(connectionId, windowMs, Math.min(windowMs, at - known.at + overlapMs))
  }

  async function look(connectionId: string, windowMs: number, fromMsAgo: number): Promise<void> {
    const mine = ++asked
    loading.value = true
    try {
      const lanes = await useClient().workers.lanes({ connectionId, fromMsAgo: Math.ceil(fromMsAgo) })
      if (mine !== asked) return
      // A whole look replaces the picture, unless it was held back.
      const base = fromMsAgo < windowMs || lanes.limits.length > 0 ? picture.value : null
      picture.value = mergeLook(base, lanes, { connectionId, windowMs, fromMsAgo })
      problem.value = null
    } catch (error) {
      if (mine === asked) problem.value = toProblem(error)
    } finally {
      if (mine === asked) loading.value = false
    }
  }

  /** The answer that is on its way is for nobody. */
  function leave(): void {
    asked++
    loading.value = false
  }

  return { picture, loading, problem, load, follow, leave }
})
