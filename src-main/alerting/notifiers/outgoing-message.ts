import type { Delivery } from '../../kernel/index.ts'
import type { ToldFiring } from '../alerts-port.ts'

/** The languages that messages are written in. */
export type Language = 'en' | 'zh-CN'

export interface MessageConnection {
  readonly id: string
  readonly name: string
  readonly environment: string
}

/** What somebody is told, whatever carries it. Names of types come from a database: they are text, and may be hostile. */
export interface OutgoingMessage {
  readonly what: Delivery['what']
  /** null for a test. */
  readonly connection: MessageConnection | null
  readonly incidentId: string | null
  /** What it is about, the first one first; empty for a test. */
  readonly firings: readonly ToldFiring[]
  /** ms since the epoch: the reading's clock, the app's for a test. */
  readonly at: number
}
