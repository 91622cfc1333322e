import { shallowRef, watch, type Ref, type ShallowRef } from 'vue'
import type { Problem } from '@contract'
import type { RangeName } from '@/shared/ranges.ts'
import { toProblem } from '@/transport/problem.ts'
import { useLastSeenStore, type LastSeen } from './last-seen-store.ts'

export interface LastSeenQuestion {
  readonly connectionId: string
  readonly type: string
  /** Nothing is in this one. */
  readonly range: RangeName
}

export type LookingBack =
  | { readonly state: 'looking' }
  | { readonly state: 'found'; readonly last: LastSeen }
  | { readonly state: 'never' }
  | { readonly state: 'failed'; readonly problem: Problem }

/** Looks further back while there is a question. */
export function useLastSeen(question: Readonly<Ref<LastSeenQuestion | null>>): {
  readonly back: ShallowRef<LookingBack>
  readonly look: () => Promise<void>
} {
  const history = useLastSeenStore()
  const back = shallowRef<LookingBack>({ state: 'looking' })
  const keyOf = (one: LastSeenQuestion | null): string => (one ? `${one.connectionId} ${one.range} ${one.type}` : '')

  async function look(): Promise<void> {
    const mine = question.value
    if (!mine) return
    back.value = { state: 'looking' }
    const found = await history.find(mine.connectionId, mine.type, mine.range).then(
      (last): LookingBack => (last ? { state: 'found', last } : { state: 'never' }),
      (error: unknown): LookingBack => ({ state: 'failed', problem: toProblem(error) })
    )
    if (keyOf(question.value) === keyOf(mine)) back.value = found
  }

  watch(() => keyOf(question.value), look, { immediate: true })
  return { back, look }
}
