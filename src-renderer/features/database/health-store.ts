import { defineStore } from 'pinia'
import { shallowReactive, shallowRef } from 'vue'
import type { DatabaseHealth, Problem } from '@contract'
import { useClient } from '@/transport/client.ts'
import { toProblem } from '@/transport/problem.ts'

/** Why the last look failed; the app tries again by itself, or never when `nextTryAt` is null. */
export interface LookFailure {
  readonly problem: Problem
  readonly nextTryAt: number | null
}

/** The last look at each database. The app looks only while the page listens. */
export const useDatabaseHealthStore = defineStore('database-health', () => {
  const pictures = shallowReactive(new Map<string, DatabaseHealth>())
  const failure = shallowRef<LookFailure | null>(null)
  let listening: AbortController | undefined

  /** Until `leave`, or until another connection is listened to. Never rejects. */
  async function listen(connectionId: string): Promise<void> {
    leave()
    const mine = new AbortController()
    listening = mine
    failure.value = null
    try {
      const events = await useClient().database.watch({ connectionId }, { signal: mine.signal })
      for await (const event of events) {
        if (mine.signal.aborted) return
        failure.value = event.status === 'failed' ? event : null
        if (event.status === 'seen') pictures.set(connectionId, event.health)
      }
    } catch (error) {
      if (!mine.signal.aborted) failure.value = { problem: toProblem(error), nextTryAt: null }
    }
  }

  function leave(): void {
    listening?.abort()
    listening = undefined
  }

  return { pictures, failure, listen, leave }
})
