import { useMessage } from 'naive-ui'
import { ref, shallowRef, type Ref, type ShallowRef } from 'vue'
import { useI18n } from 'vue-i18n'
import type { AlertState, Incident, Problem } from '@contract'
import { useAlertsStore, type SilenceCall } from '@/state/alerts-store.ts'
import { useAction } from '@/state/use-action.ts'
import { draftOf } from './rule-draft.ts'
import type { RuleRow } from './rule-status.ts'

export interface AlertActions {
  readonly busy: Ref<boolean>
  readonly problem: ShallowRef<Problem | null>
  /** The incident that the dialog asks about; null while it is closed. */
  readonly asking: ShallowRef<Incident | null>
  /** The rule that is being switched on or off. */
  readonly switching: Ref<string | null>
  readonly ask: (incident: Incident | null) => void
  readonly acknowledge: (note: string) => Promise<void>
  /** Whether it is silent now. */
  readonly silence: (call: SilenceCall) => Promise<boolean>
  readonly unsilence: (silenceId: string) => Promise<void>
  /** Ends what keeps this rule silent, a silence of all rules too. */
  readonly endSilenceOf: (ruleId: string) => Promise<void>
  readonly toggle: (row: RuleRow, enabled: boolean) => Promise<void>
}

/** What is done to rules and incidents from the page, with what went wrong. */
export function useAlertActions(connectionId: Ref<string>, state: Readonly<Ref<AlertState | undefined>>): AlertActions {
  const { t } = useI18n()
  const message = useMessage()
  const alerts = useAlertsStore()
  const { busy, problem, run } = useAction()
  const asking = shallowRef<Incident | null>(null)
  const switching = ref<string | null>(null)

  const unsilence = (silenceId: string): Promise<void> =>
    run(async () => {
      await alerts.unsilence(connectionId.value, silenceId)
      message.success(t('alerts.done.unsilenced'))
    })

  return {
    busy,
    problem,
    asking,
    switching,
    ask(incident) {
      asking.value = incident
      problem.value = null
    },
    acknowledge: (note) =>
      run(async () => {
        if (!asking.value) return
        await alerts.acknowledge(connectionId.value, asking.value.id, note)
        asking.value = null
        message.success(t('alerts.done.acknowledged'))
      }),
    async silence(call) {
      let done = false
      await run(async () => {
        await alerts.silence(call)
        done = true
        message.success(t('alerts.done.silenced'))
      })
      return done
    },
    unsilence,
    async endSilenceOf(ruleId) {
      const mine = (state.value?.silences ?? []).filter((one) => one.ruleId === ruleId || one.ruleId === null)
      for (const one of mine) await unsilence(one.id)
    },
    async toggle({ view: { rule } }, enabled) {
      switching.value = rule.id
      await run(() => alerts.saveRule(connectionId.value, rule.id, { ...draftOf(rule), enabled }))
      switching.value = null
    }
  }
}
