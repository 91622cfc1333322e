import { ref, shallowRef, type Ref, type ShallowRef } from 'vue'
import type { Problem } from '@contract'
import { toProblem } from '@/transport/problem.ts'

export interface Action {
  readonly busy: Ref<boolean>
  /** Of the last run; null when it went well. */
  readonly problem: ShallowRef<Problem | null>
  readonly run: (work: () => Promise<unknown>) => Promise<void>
}

/** Something that a press starts: one at a time, and what went wrong with it. */
export function useAction(): Action {
  const busy = ref(false)
  const problem = shallowRef<Problem | null>(null)

  async function run(work: () => Promise<unknown>): Promise<void> {
    if (busy.value) return
    busy.value = true
    problem.value = null
    try {
      await work()
    } catch (error) {
      problem.value = toProblem(error)
    } finally {
      busy.value = false
    }
  }

  return { busy, problem, run }
}
