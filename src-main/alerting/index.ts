export { openAlerts } from './open-alerts.ts'
export { metricsOf } from './signals.ts'
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
  StoredNotifier
} from './alerts-port.ts'
