import type { AppInfo, AppEvent } from '../../contract/index.ts'
import type { Secrets } from '../../connections/index.ts'
import type { Clock } from '../../kernel/index.ts'
import type { Operations } from '../../operations/index.ts'
import type { AuditedChange } from '../alerts/audited-change.ts'
import type { Notifiers } from '../alerts/notifiers.ts'
import type { QueueAlerts } from '../alerts/queue-alerts.ts'
import type { AppLog } from '../app-log.ts'
import type { EventHub } from '../event-hub.ts'
import type { ConnectionChanges } from '../links/connection-changes.ts'
import type { Connections } from '../links/connections.ts'
import type { DatabasePlaces } from '../links/open-queue.ts'
import type { Observations } from '../observations.ts'
import type { CapturePage } from '../outside/capture-page.ts'
import type { Outside } from '../outside/outside.ts'
import type { SettingsFile } from '../settings-file.ts'
import type { ShippedProfile } from '../shipped-profiles.ts'
import type { LocalWorker } from '../worker/local-worker.ts'

/** What the procedures work with. */
export interface Services {
  readonly clock: Clock
  readonly log: AppLog
  readonly hub: EventHub
  readonly connections: Connections
  readonly changes: ConnectionChanges
  readonly secrets: Secrets
  readonly observations: Observations
  readonly operations: Operations
  readonly alerts: QueueAlerts
  readonly notifiers: Notifiers
  readonly outside: Outside
  /** Carries out a change to how Taskdeck watches, and records it. */
  readonly audited: <T>(change: AuditedChange, work: () => T | Promise<T>) => Promise<T>
  readonly localWorker: LocalWorker
  readonly settings: SettingsFile
  readonly places: DatabasePlaces
  readonly artifactDir: string
  readonly hostName: string
  /** Who acts, for the audit log. */
  readonly actor: string
  readonly validateOutputs: boolean
  readonly info: () => AppInfo
  /** Those that come with Taskdeck. */
  readonly profiles: () => Promise<ShippedProfile[]>
  /** null where the shell has no window of its own. */
  readonly capturePage: CapturePage | null
  readonly publish: (event: AppEvent) => void
}
