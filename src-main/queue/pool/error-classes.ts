import { taskLimits, type AttemptError, type ErrorClass } from '../../kernel/index.ts'
import { truncateUtf8 } from '../stored-text.ts'
import { messageOf, textProperty } from './error-text.ts'
import { HandlerError } from './handler.ts'

/*
 * What becomes of an error that a handler did not class by itself (requirements, section 4). Data, not code: one
 * line a code. Only codes and names decide, never message texts.
 */

const classOfCode: Readonly<Record<string, ErrorClass>> = {
  // network and other systems: another attempt may meet a healthy one
  ECONNREFUSED: 'retryable',
  ECONNRESET: 'retryable',
  ECONNABORTED: 'retryable',
  EPIPE: 'retryable',
  ETIMEDOUT: 'retryable',
  EHOSTUNREACH: 'retryable',
  ENETUNREACH: 'retryable',
  ENETDOWN: 'retryable',
  EAI_AGAIN: 'retryable',
  UND_ERR_CONNECT_TIMEOUT: 'retryable',
  UND_ERR_HEADERS_TIMEOUT: 'retryable',
  UND_ERR_BODY_TIMEOUT: 'retryable',
  UND_ERR_SOCKET: 'retryable',
  PROTOCOL_CONNECTION_LOST: 'retryable',
  ER_LOCK_DEADLOCK: 'retryable',
  CONNECTION_REFUSED: 'retryable',
  CONNECTION_LOST: 'retryable',
  CONNECT_TIMEOUT: 'retryable',
  STATEMENT_TIMEOUT: 'retryable',
  DEADLOCK: 'retryable',
  COMMIT_UNKNOWN: 'retryable',
  SERVER_READ_ONLY: 'retryable',
  // something ran out
  ENOSPC: 'resource',
  EDQUOT: 'resource',
  EMFILE: 'resource',
  ENFILE: 'resource',
  ENOMEM: 'resource',
  EAGAIN: 'resource',
  EBUSY: 'resource',
  SQLITE_FULL: 'resource',
  SQLITE_BUSY: 'resource',
  ER_LOCK_WAIT_TIMEOUT: 'resource',
  ER_CON_COUNT_ERROR: 'resource',
  ER_RECORD_FILE_FULL: 'resource',
  LOCK_TIMEOUT: 'resource',
  POOL_EXHAUSTED: 'resource',
  TOO_MANY_CONNECTIONS: 'resource',
  DISK_FULL: 'resource',
  // the input or the permissions are wrong: every attempt fails alike
  ENOENT: 'final',
  ENOTDIR: 'final',
  EISDIR: 'final',
  EACCES: 'final',
  EPERM: 'final',
  EROFS: 'final',
  ENOTFOUND: 'final',
  ERR_INVALID_URL: 'final',
  ERR_INVALID_ARG_TYPE: 'final',
  CERT_HAS_EXPIRED: 'final',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'final',
  ERR_TLS_CERT_ALTNAME_INVALID: 'final'
}

const classOfName: Readonly<Record<string, ErrorClass>> = {
  TimeoutError: 'retryable',
  ZodError: 'final',
  $ZodError: 'final',
  SyntaxError: 'final'
}

/** Statuses of HTTP that a later request may not meet again; every other 4xx is final. */
const retryableHttpStatuses: readonly number[] = [408, 421, 423, 425, 429]

export function classOfHttpStatus(status: number): ErrorClass {
  return status >= 500 || retryableHttpStatuses.includes(status) ? 'retryable' : 'final'
}

/** Any thrown value as an attempt's error. Never throws. What is unknown is retried: attempts are bounded. */
export function classify(thrown: unknown): AttemptError {
  if (thrown instanceof HandlerError) return attemptErrorOf(thrown.code, messageOf(thrown), thrown.errorClass)
  // `fetch` hides the network's code in the cause.
  const code = knownCode(thrown) ?? (thrown instanceof Error ? knownCode(causeOf(thrown)) : undefined)
  if (code !== undefined) return attemptErrorOf(code, messageOf(thrown), classOfCode[code] ?? 'retryable')
  const name = textProperty(thrown, 'name')
  const errorClass = (name !== undefined && own(classOfName, name)) || 'retryable'
  return attemptErrorOf(textProperty(thrown, 'code') ?? codeOfName(name), messageOf(thrown), errorClass)
}

/** A code and a message that fit their columns. */
export function attemptErrorOf(code: string, message: string, errorClass: ErrorClass): AttemptError {
  const safeCode = code.replace(/[^A-Za-z0-9_]/g, '_').slice(0, 64)
  return {
    code: safeCode === '' ? 'ERROR' : safeCode,
    message: truncateUtf8(message, taskLimits.errorMessageBytes),
    class: errorClass
  }
}

function knownCode(thrown: unknown): string | undefined {
  const code = textProperty(thrown, 'code')
  return code !== undefined && Object.hasOwn(classOfCode, code) ? code : undefined
}

function causeOf(error: Error): unknown {
  try {
    return error.cause
  } catch {
    return undefined
  }
}

const own = (table: Readonly<Record<string, ErrorClass>>, key: string): ErrorClass | undefined =>
  Object.hasOwn(table, key) ? table[key] : undefined

/** `TimeoutError` becomes TIMEOUT_ERROR. */
function codeOfName(name: string | undefined): string {
  if (name === undefined || name === 'Error' || name === '') return 'ERROR'
  return name
    .replace(/^\$/, '')
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toUpperCase()
}
