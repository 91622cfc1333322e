/** What an operator is about to do. */
export interface Intent {
  readonly actor: string
  readonly connectionId: string
  readonly action: string
  /** What it is done to: a task's id, or a filter as JSON text. */
  readonly target: string
  /** How many tasks it is meant to change. */
  readonly count: number
  /** Made by the page, one for each press; a repeated one is the same request. */
  readonly requestId: string
  readonly reason: string
}

export interface AuditEntry extends Intent {
  readonly id: string
  /** Milliseconds since the epoch, by the local clock. */
  readonly at: number
  /** JSON text; null while it is not known. */
  readonly outcome: string | null
  readonly outcomeAt: number | null
}

export type IntentResult =
  | { readonly status: 'new'; readonly id: string }
  /** The request was made before; what it was and what came of it. Nothing was written. */
  | { readonly status: 'repeated'; readonly entry: AuditEntry }

/**
 * Append-only log of what operators did, on disk before it is done. Methods throw AUDIT_UNAVAILABLE or DISK_FULL
 * (operational) when the file cannot be used: then nothing may be changed that could not be recorded.
 */
export interface Audit {
  intent(intent: Intent): Promise<IntentResult>
  /** The first outcome stays; a second one for the same id is ignored. */
  outcome(id: string, resultJson: string): Promise<void>
  findRequest(requestId: string): Promise<AuditEntry | undefined>
  /** Newest first, at most 500; `before` is the id of the last one seen. */
  list(limit: number, before?: string | null): Promise<AuditEntry[]>
  /** Intents without an outcome, oldest first, at most 500: after a crash their rows tell what happened. */
  unsettled(limit: number): Promise<AuditEntry[]>
  close(): Promise<void>
}

/** Longest texts kept, in characters; longer ones are cut. */
export const auditLimits = { text: 4_096, result: 65_536, page: 500 } as const
