export { openAlerts } from './open-alerts.ts'
export { metricsOf, signalValue } from './signals.ts'
export { defaultRules } from './default-rules.ts'
export type {
  IncidentMessage,
  AlertRuleView,
  AlertState,
  Alerts,
  AlertsOptions,
  NotifierRecords,
  Observation,
  PreviewHistory,
  RulePreview,
  RuleState,
  StoredNotifier,
  ToldFiring
} from './alerts-port.ts'
