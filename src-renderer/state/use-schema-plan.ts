import { ref, shallowRef, type Ref, type ShallowRef } from 'vue'
import type { Problem } from '@contract'
import { toProblem } from '@/transport/problem.ts'
import { useConnectionsStore } from './connections-store.ts'

export interface PlanStatement {
  readonly migration: string
  readonly sql: string
}

/** The statements that a connection's database lacks: read first, then run exactly what was read. */
export function useSchemaPlan(): {
  plan: ShallowRef<readonly PlanStatement[] | null>
  busy: Ref<boolean>
  problem: ShallowRef<Problem | null>
  read: (connectionId: string) => Promise<void>
  migrate: (connectionId: string) => Promise<boolean>
} {
  const connections = useConnectionsStore()
  const plan = shallowRef<readonly PlanStatement[] | null>(null)
  const problem = shallowRef<Problem | null>(null)
  const busy = ref(false)

  async function guarded(work: () => Promise<void>): Promise<boolean> {
    busy.value = true
    problem.value = null
    try {
      await work()
      return true
    } catch (error) {
      problem.value = toProblem(error)
      return false
    } finally {
      busy.value = false
    }
  }

  return {
    plan,
    busy,
    problem,
    async read(connectionId) {
      plan.value = null
      await guarded(async () => void (plan.value = await connections.schemaPlan(connectionId)))
    },
    migrate: (connectionId) =>
      guarded(async () => {
        const hash = await planHash(plan.value ?? [])
        await connections.migrate(connectionId, hash)
      })
  }
}

/** SHA-256 of the statements joined by a newline, in hex: what the app compares with its own plan before it runs it. */
export async function planHash(plan: readonly PlanStatement[]): Promise<string> {
  const text = new TextEncoder().encode(plan.map((statement) => statement.sql).join('\n'))
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', text))
  return [...digest].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}
