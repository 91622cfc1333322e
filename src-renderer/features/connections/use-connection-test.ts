import { computed, onScopeDispose, ref, shallowRef, type ComputedRef, type Ref, type ShallowRef } from 'vue'
import type { ConnectionDraft, Problem, TestStep } from '@contract'
import { useConnectionsStore } from '@/state/connections-store.ts'
import { toProblem } from '@/transport/problem.ts'

const stepNames = ['tcp', 'tls', 'login', 'database', 'rights', 'schema'] as const satisfies TestStep['step'][]

export interface ShownStep {
  readonly step: TestStep['step']
  readonly status: TestStep['status'] | 'next'
  readonly notes: TestStep['notes']
  readonly problem: Problem | null
}

/** A test of a draft as it goes on: each step as soon as it is known. Nothing is saved; leaving the page ends it. */
export function useConnectionTest(): {
  steps: ComputedRef<ShownStep[]>
  running: Ref<boolean>
  /** null until a test has run to its end. */
  passed: Ref<boolean | null>
  problem: ShallowRef<Problem | null>
  run: (draft: ConnectionDraft) => Promise<void>
  cancel: () => void
  forget: () => void
} {
  const connections = useConnectionsStore()
  const known = shallowRef<ReadonlyMap<string, TestStep>>(new Map())
  const running = ref(false)
  const passed = ref<boolean | null>(null)
  const problem = shallowRef<Problem | null>(null)
  let current: AbortController | null = null

  function cancel(): void {
    current?.abort()
    current = null
    running.value = false
    // What was under way has no result.
    known.value = new Map([...known.value].filter(([, step]) => step.status !== 'running'))
  }

  function forget(): void {
    cancel()
    known.value = new Map()
    passed.value = null
    problem.value = null
  }

  async function run(draft: ConnectionDraft): Promise<void> {
    forget()
    const mine = (current = new AbortController())
    running.value = true
    try {
      for await (const step of await connections.test(draft, mine.signal)) {
        if (current !== mine) return
        known.value = new Map([...known.value, [step.step, step]])
      }
      if (current === mine) passed.value = ![...known.value.values()].some((step) => step.status === 'failed')
    } catch (error) {
      if (current === mine) problem.value = toProblem(error)
    } finally {
      if (current === mine) running.value = false
    }
  }

  onScopeDispose(cancel)
  const steps = computed(() =>
    stepNames.map((step): ShownStep => known.value.get(step) ?? { step, status: 'next', notes: [], problem: null })
  )
  return { steps, running, passed, problem, run, cancel, forget }
}
