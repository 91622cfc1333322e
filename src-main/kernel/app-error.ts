/**
 * `user`: shown as it is, the user can act on it. `operational`: the world failed (network, server, disk); retried or
 * shown as state. `bug`: ours; logged, and the page gets a generic text.
 */
export type ErrorKind = 'user' | 'operational' | 'bug'

export const errorCodes = [
  // input
  'INVALID_INPUT',
  'INVALID_PAYLOAD',
  'NOT_FOUND',
  'KEY_CONFLICT',
  'QUOTA_EXCEEDED',
  'LIMIT_REACHED',
  'ILLEGAL_TRANSITION',
  'READ_ONLY',
  'FOREIGN_TABLE',
  'UNKNOWN_TYPE',
  'HANDLER_LOAD_FAILED',
  'FILE_UNAVAILABLE',
  'WORKER_RUNNING',
  'WORKER_GONE',
  'WORKER_STOPPING',
  'VAULT_UNAVAILABLE',
  // reaching a database
  'LOGIN_REFUSED',
  'CONNECTION_REFUSED',
  'NOT_MYSQL',
  'HOST_UNKNOWN',
  'CONNECTION_LOST',
  'CONNECT_TIMEOUT',
  'TLS_FAILED',
  'DATABASE_UNKNOWN',
  'NO_RIGHTS',
  'SERVER_READ_ONLY',
  'TOO_MANY_CONNECTIONS',
  'POOL_EXHAUSTED',
  // running a statement
  'STATEMENT_TIMEOUT',
  'DEADLOCK',
  'LOCK_TIMEOUT',
  'COMMIT_UNKNOWN',
  'SQL_FAILED',
  // schema
  'SCHEMA_MISSING',
  'SCHEMA_OUTDATED',
  'SCHEMA_NEWER',
  'SCHEMA_BROKEN',
  // our own files
  'HISTORY_DAMAGED',
  'HISTORY_UNAVAILABLE',
  'AUDIT_DAMAGED',
  'AUDIT_UNAVAILABLE',
  'ALERTS_DAMAGED',
  'ALERTS_UNAVAILABLE',
  'DELIVERY_FAILED',
  'ADDRESS_MISSING',
  'DISK_FULL',
  'BUG'
] as const
export type ErrorCode = (typeof errorCodes)[number]

/** Values that a message in the user's language may need; never a secret. */
export type ErrorDetails = Readonly<Record<string, string | number | boolean>>

/** The one error class that crosses rooms. `message` is English, neutral, and says what to do. */
export class AppError extends Error {
  override readonly name = 'AppError'
  readonly code: ErrorCode
  readonly kind: ErrorKind
  readonly details: ErrorDetails

  constructor(
    code: ErrorCode,
    kind: ErrorKind,
    message: string,
    options: { cause?: unknown; details?: ErrorDetails } = {}
  ) {
    super(message, { cause: options.cause })
    this.code = code
    this.kind = kind
    this.details = options.details ?? {}
  }

  /** An Error's own message is left out of JSON otherwise: a service that tells its health would not say why. */
  toJSON(): object {
    const { name, code, kind, message, details } = this
    return { name, code, kind, message, details }
  }
}

/** Any thrown value as an AppError; what is not one already is a bug. */
export function toAppError(error: unknown): AppError {
  if (error instanceof AppError) return error
  return new AppError('BUG', 'bug', error instanceof Error ? error.message : String(error), { cause: error })
}
