import { defineStore } from 'pinia'
import { shallowReactive, shallowRef } from 'vue'
import type { AlertRuleDraft, AlertState, Delivery, Incident, Notifier, NotifierDraft, RulePreview } from '@contract'
import { useClient } from '@/transport/client.ts'

export interface SilenceCall {
  readonly connectionId: string
  /** null: every rule of the connection. */
  readonly ruleId: string | null
  readonly durationMs: number
  readonly reason: string
}

/**
 * Rules, open incidents and silences of each connection as events tell them, and what is done to them. Actions reject with what
 * `toProblem` reads. Notifiers and deliveries belong to the app; they are read by the page that shows them.
 */
export const useAlertsStore = defineStore('alerts', () => {
  const states = shallowReactive(new Map<string, AlertState>())
  const notifiers = shallowRef<readonly Notifier[] | null>(null)
  /** Newest first. */
  const deliveries = shallowRef<readonly Delivery[] | null>(null)
  const asked = new Set<string>()
  /** Grows with each event of a connection: an answer that was asked for before the last event is older than it. */
  const events = new Map<string, number>()

  function onEvent(state: AlertState): void {
    asked.add(state.connectionId)
    events.set(state.connectionId, (events.get(state.connectionId) ?? 0) + 1)
    states.set(state.connectionId, state)
  }

  /** The next `askFor` asks anew: what was told over a carrier that broke may have moved on. */
  function restart(): void {
    asked.clear()
  }

  /** Asks once for the connections of which nothing is known; forgets those that are gone. One that cannot be had stays unknown until its next event. */
  function askFor(connectionIds: readonly string[]): void {
    for (const id of states.keys()) if (!connectionIds.includes(id)) states.delete(id)
    for (const id of connectionIds) {
      if (asked.has(id)) continue
      asked.add(id)
      void refresh(id).catch(() => undefined)
    }
  }

  /** Events leave out that values alone have changed: who shows these asks now and then. */
  async function refresh(connectionId: string): Promise<void> {
    const before = events.get(connectionId)
    const state = await useClient().alerts.get({ connectionId })
    if (events.get(connectionId) === before) states.set(connectionId, state)
  }

  async function keep(answer: Promise<AlertState>): Promise<AlertState> {
    const state = await answer
    states.set(state.connectionId, state)
    return state
  }

  /** `ruleId` null makes a new one; the answer is its id. */
  async function saveRule(connectionId: string, ruleId: string | null, rule: AlertRuleDraft): Promise<string> {
    const known = new Set(states.get(connectionId)?.rules.map((one) => one.rule.id))
    const state = await keep(useClient().alerts.saveRule({ connectionId, ruleId, rule }))
    return ruleId ?? state.rules.find((one) => !known.has(one.rule.id))?.rule.id ?? ''
  }
  const removeRule = (connectionId: string, ruleId: string): Promise<AlertState> =>
    keep(useClient().alerts.removeRule({ connectionId, ruleId }))
  const acknowledge = (connectionId: string, incidentId: string, note: string): Promise<AlertState> =>
    keep(useClient().alerts.acknowledge({ connectionId, incidentId, note }))
  const silence = (call: SilenceCall): Promise<AlertState> => keep(useClient().alerts.silence(call))
  const unsilence = (connectionId: string, silenceId: string): Promise<AlertState> =>
    keep(useClient().alerts.unsilence({ connectionId, silenceId }))

  const preview = (connectionId: string, rule: AlertRuleDraft, rangeMs: number): Promise<RulePreview> =>
    useClient().alerts.preview({ connectionId, rule, rangeMs })
  const incidentsIn = (connectionId: string, from: number, to: number): Promise<Incident[]> =>
    useClient().alerts.incidents({ connectionId, from, to })

  async function loadNotifiers(): Promise<void> {
    notifiers.value = await useClient().alerts.notifiers()
  }
  async function loadDeliveries(): Promise<void> {
    deliveries.value = await useClient().alerts.deliveries()
  }
  /** One that messages reach only now may have been told of what fires. */
  async function saveNotifier(draft: NotifierDraft): Promise<void> {
    notifiers.value = await useClient().alerts.saveNotifier(draft)
    await loadDeliveries()
  }
  async function removeNotifier(notifierId: string): Promise<void> {
    notifiers.value = await useClient().alerts.removeNotifier({ notifierId })
  }
  async function testNotifier(notifierId: string): Promise<Delivery> {
    const delivery = await useClient().alerts.testNotifier({ notifierId })
    await loadDeliveries()
    return delivery
  }

  return {
    states,
    notifiers,
    deliveries,
    onEvent,
    restart,
    askFor,
    refresh,
    saveRule,
    removeRule,
    acknowledge,
    silence,
    unsilence,
    preview,
    incidentsIn,
    loadNotifiers,
    loadDeliveries,
    saveNotifier,
    removeNotifier,
    testNotifier
  }
})
