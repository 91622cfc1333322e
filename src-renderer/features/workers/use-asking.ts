import { useMessage } from 'naive-ui'
import { computed, ref, type ComputedRef, type Ref, type ShallowRef } from 'vue'
import { useI18n } from 'vue-i18n'
import type { ConnectionView, Problem } from '@contract'
import { useAction } from '@/state/use-action.ts'
import { useWorkerRequestsStore } from './worker-requests-store.ts'
import type { Asking } from './worker-requests.ts'

export interface AskingFlow {
  /** What is, or was last, asked of whom. */
  readonly asked: Ref<{ readonly worker: string; readonly asking: Asking }>
  readonly confirming: Ref<boolean>
  /** What the reader types to confirm; empty when nothing. */
  readonly typed: ComputedRef<string>
  readonly busy: Ref<boolean>
  readonly problem: ShallowRef<Problem | null>
  readonly press: (worker: string, asking: Asking) => void
  readonly run: (confirmation: string) => Promise<void>
}

/** From the press to the toast. A worker that was stopped is started by hand only, so that is asked for; nothing on production goes without its name. */
export function useAsking(connection: Ref<ConnectionView | undefined>): AskingFlow {
  const { t } = useI18n()
  const message = useMessage()
  const requests = useWorkerRequestsStore()
  const { busy, problem, run: attempt } = useAction()
  const asked = ref<{ worker: string; asking: Asking }>({ worker: '', asking: 'quiet' })
  const confirming = ref(false)
  const isProduction = computed(() => connection.value?.environment === 'production')
  const typed = computed(() => (isProduction.value ? (connection.value?.name ?? '') : ''))

  function press(worker: string, asking: Asking): void {
    if (busy.value) return
    problem.value = null
    asked.value = { worker, asking }
    if (isProduction.value || asking === 'stop') confirming.value = true
    else void run('')
  }

  async function run(confirmation: string): Promise<void> {
    const { worker, asking } = asked.value
    const connectionId = connection.value?.id
    if (connectionId === undefined) return
    await attempt(async () => {
      const { auditId } = await requests.ask({ connectionId, workerId: worker, asking, confirmation })
      confirming.value = false
      message.success(t(`workers.done.${asking}`, { worker, audit: auditId }))
    })
  }

  return { asked, confirming, typed, busy, problem, press, run }
}
