import type { DesktopNotifier } from '../alerting/notifiers/index.ts'
import type { SecretVault } from '../connections/index.ts'
import type { Clock } from '../kernel/index.ts'
import type { AppLog } from './app-log.ts'
import type { CapturePage } from './outside/capture-page.ts'
import type { ServePage } from './rpc-peer.ts'
import type { AppRouter } from './router/index.ts'

export interface AppOptions {
  /** All that this app keeps; made when it is not there. One app at a time uses it. */
  readonly dataDir: string
  readonly shell: 'electron' | 'server'
  readonly version: string
  readonly clock: Clock
  /** null where the shell cannot reach the operating system's store: passwords last for the session. */
  readonly vault: SecretVault | null
  /** Left out where there is no desktop to show notifications on; a message that should go there says so. */
  readonly desktop?: DesktopNotifier
  /** Port of 127.0.0.1 for what the app sees as Prometheus metrics, 0 a free one; left out or null: none. */
  readonly metricsPort?: number | null
  /** Left out where there is no window of the app's own. */
  readonly capturePage?: CapturePage
  readonly hostName: string
  /** The project's `resources` and `migrations`. */
  readonly resourcesDir: string
  readonly migrationsDir: string
  /** Starts the local worker with the steady sample at once. */
  readonly demo?: boolean
  /** Checks every answer and event against the contract; for development and tests. Inputs are always checked. */
  readonly validateOutputs?: boolean
}

export interface TaskdeckApp {
  /** The contract, implemented. */
  readonly router: AppRouter
  /** Serves the router to one page over any line of messages. */
  readonly servePage: ServePage
  readonly log: AppLog
  /** Address of the metrics; null when there are none. */
  readonly metricsUrl: string | null
  /** Ends everything cleanly: running tasks get their grace, files are closed. Idempotent. */
  stop(): Promise<void>
}
