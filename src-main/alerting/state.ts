import { isDeepStrictEqual } from 'node:util'
import { alertRuleDraft, type AlertRule, type AlertRuleDraft } from '../kernel/index.ts'
import { defaultRules } from './default-rules.ts'
import type { AlertRuleView, AlertState, RuleState } from './alerts-port.ts'
import type { ConnectionAlerts } from './connection-alerts.ts'
import { incidentView } from './incidents.ts'
import { valueNow, type RuleMemory } from './rule-machine.ts'
import type { Silences } from './silences.ts'

interface StateParts {
  readonly alerts: ConnectionAlerts
  readonly silences: Silences
  /** By the app's clock. */
  readonly now: number
  /** Firings of the last 7 days, by rule. */
  readonly fired: ReadonlyMap<string, number>
  readonly isFresh: boolean
}

/** What the page sees of one connection. */
export function stateOf({ alerts, silences, now, fired, isFresh }: StateParts): AlertState {
  const { connectionId } = alerts
  const viewOf = (rule: AlertRule): AlertRuleView => {
    const memory = alerts.memory(rule.id)
    const isKnown = rule.enabled && (isFresh || rule.signal === 'blindMs')
    return {
      rule,
      standard: changedFrom(rule),
      state: ruleState(rule, memory, isKnown),
      since: memory.phase === 'quiet' ? null : memory.since,
      value: isKnown ? valueNow(memory) : null,
      silencedUntil: silences.until({ connectionId, ruleId: rule.id }, now),
      fired7d: fired.get(rule.id) ?? 0
    }
  }
  return {
    connectionId,
    rules: alerts.rules.map(viewOf),
    open: [...alerts.open].sort((a, b) => b.openedAt - a.openedAt).map(incidentView),
    silences: silences.of(connectionId, now)
  }
}

/** What a changed default was; switching it on and off is no change. */
function changedFrom(rule: AlertRule): AlertRuleDraft | null {
  const standard = defaultRules.find(({ id }) => id === rule.id)
  if (!standard) return null
  const is = alertRuleDraft.parse(rule)
  const was = { ...alertRuleDraft.parse(standard), enabled: is.enabled }
  return isDeepStrictEqual(was, is) ? null : was
}

function ruleState({ enabled }: AlertRule, memory: RuleMemory, isKnown: boolean): RuleState {
  if (!enabled) return 'unknown'
  if (memory.phase !== 'quiet') return memory.phase
  return isKnown && valueNow(memory) !== null ? 'quiet' : 'unknown'
}
