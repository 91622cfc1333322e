export type {
  IncidentMessage,
  AlertRuleView,
  AlertState,
  Alerts,
  AlertsOptions,
  NotifierRecords,
  Observation,
  OpenAlerts,
  PreviewHistory,
  RulePreview,
  RuleState,
  StoredNotifier
} from './alerts-port.ts'
