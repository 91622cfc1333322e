import { defineStore } from 'pinia'
import { ref, shallowRef } from 'vue'
import type { Lanes, Problem } from '@contract'
import { useClient } from '@/transport/client.ts'
import { toProblem } from '@/transport/problem.ts'

/** How far back errors and workers of a type are looked for, ms. */
export const attemptsWindowMs = 900_000
/** Looking through the window again costs the server some milliseconds: not with each reading. By the database's clock. */
const lookEveryMs = 30_000

export interface TypeAttempts extends Lanes {
  readonly connectionId: string
  readonly type: string
}

/** The attempts of one type in the last quarter of an hour, and those that run. */
export const useTypeAttemptsStore = defineStore('type-attempts', () => {
  const known = shallowRef<TypeAttempts | null>(null)
  const loading = ref(false)
  const problem = shallowRef<Problem | null>(null)
  let asked = 0
  /** The reading after which it was last asked, also in vain. */
  let followed = { connectionId: '', type: '', at: 0 }

  const isOf = (connectionId: string, type: string): boolean =>
    known.value?.connectionId === connectionId && known.value.type === type

  async function load(connectionId: string, type: string): Promise<void> {
    if (!isOf(connectionId, type)) known.value = null
    const mine = ++asked
    loading.value = true
    try {
      const lanes = await useClient().workers.lanes({ connectionId, type, fromMsAgo: attemptsWindowMs })
      if (mine !== asked) return
      known.value = { ...lanes, connectionId, type }
      problem.value = null
    } catch (error) {
      if (mine === asked) problem.value = toProblem(error)
    } finally {
      if (mine === asked) loading.value = false
    }
  }

  /** After a reading that was made at `at`. */
  async function follow(connectionId: string, type: string, at: number): Promise<void> {
    const isSame = followed.connectionId === connectionId && followed.type === type
    const isFresh = isOf(connectionId, type) && at - (known.value?.at ?? 0) < lookEveryMs
    if (loading.value || isFresh || (isSame && at - followed.at < lookEveryMs)) return
    followed = { connectionId, type, at }
    await load(connectionId, type)
  }

  function leave(): void {
    asked++
    loading.value = false
  }

  return { known, loading, problem, load, follow, leave }
})
