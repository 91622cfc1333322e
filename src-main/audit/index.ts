export { openAudit } from './open-audit.ts'
export type { AuditOptions } from './open-audit.ts'
export type { Audit, AuditEntry, Intent, IntentResult } from './audit-port.ts'
