import { z } from 'zod'
import { errorClass } from '../../kernel/index.ts'

/*
 * What becomes of errors that handlers did not class by themselves, as data (requirements, section 4): the built-in table, and the form of
 * `error-classes.json`, with which users put rules of their own before it (docs/handlers.md). The first rule that fits decides.
 */

const limits = { rules: 200, alternatives: 200, patternLength: 200 } as const

const oneOrMore = <T extends z.ZodType>(one: T) =>
  z.union([z.array(one).min(1).max(limits.alternatives), one.transform((value) => [value])])

const status = z.union([z.int().min(100).max(599), z.enum(['1xx', '2xx', '3xx', '4xx', '5xx'])])

/**
 * A repeated group that repeats something itself may try for ever on a message that nearly fits; the same part named twice too. These are
 * refused when the file is read; what gets through is stopped by `BoundedPattern`.
 */
const runsAway = /\([^()]*[*+}][^()]*\)\s*[*+{]|\\[1-9]/

const pattern = z
  .string()
  .min(1)
  .max(limits.patternLength)
  .superRefine((text, context) => {
    const refuse = (message: string): void => context.addIssue({ code: 'custom', message })
    try {
      new RegExp(text, 'u')
    } catch {
      return refuse('is no regular expression')
    }
    if (runsAway.test(text))
      refuse('repeats a group that repeats something itself, or refers back: write it more simply')
  })

const conditions = z
  .strictObject({
    code: oneOrMore(z.string().min(1).max(200)).optional(),
    name: oneOrMore(z.string().min(1).max(200)).optional(),
    /** Of an HTTP answer: the error's `status`, `statusCode` or `response.status`. */
    status: oneOrMore(status).optional(),
    /** A regular expression, looked for in the first 2,000 characters. */
    message: pattern.optional()
  })
  .refine((when) => Object.values(when).some((condition) => condition !== undefined), 'names no condition')

export const errorRule = z.strictObject({
  /** All that are named must hold. */
  when: conditions,
  class: errorClass,
  /** The code that the attempt's error gets instead of its own. */
  code: z
    .string()
    .regex(/^[A-Z0-9_]{1,64}$/, 'has 1 to 64 of A-Z, 0-9 and _')
    .optional()
})
export type ErrorRule = z.infer<typeof errorRule>

export const errorClassesFile = z.strictObject({
  $schema: z.string().optional(),
  rules: z.array(errorRule).max(limits.rules)
})

export const builtInRules: readonly ErrorRule[] = [
  {
    // network and other systems: another attempt may meet a healthy one
    when: {
      code: [
        'ECONNREFUSED',
        'ECONNRESET',
        'ECONNABORTED',
        'EPIPE',
        'ETIMEDOUT',
        'EHOSTUNREACH',
        'ENETUNREACH',
        'ENETDOWN',
        'EAI_AGAIN',
        'UND_ERR_CONNECT_TIMEOUT',
        'UND_ERR_HEADERS_TIMEOUT',
        'UND_ERR_BODY_TIMEOUT',
        'UND_ERR_SOCKET',
        'PROTOCOL_CONNECTION_LOST',
        'ER_LOCK_DEADLOCK',
        'CONNECTION_REFUSED',
        'CONNECTION_LOST',
        'CONNECT_TIMEOUT',
        'STATEMENT_TIMEOUT',
        'DEADLOCK',
        'COMMIT_UNKNOWN',
        'SERVER_READ_ONLY'
      ]
    },
    class: 'retryable'
  },
  {
    // something ran out
    when: {
      code: [
        'ENOSPC',
        'EDQUOT',
        'EMFILE',
        'ENFILE',
        'ENOMEM',
        'EAGAIN',
        'EBUSY',
        'SQLITE_FULL',
        'SQLITE_BUSY',
        'ER_LOCK_WAIT_TIMEOUT',
        'ER_CON_COUNT_ERROR',
        'ER_RECORD_FILE_FULL',
        'LOCK_TIMEOUT',
        'POOL_EXHAUSTED',
        'TOO_MANY_CONNECTIONS',
        'DISK_FULL'
      ]
    },
    class: 'resource'
  },
  {
    // the input or the permissions are wrong: every attempt fails alike
    when: {
      code: [
        'ENOENT',
        'ENOTDIR',
        'EISDIR',
        'EACCES',
        'EPERM',
        'EROFS',
        'ENOTFOUND',
        'ERR_INVALID_URL',
        'ERR_INVALID_ARG_TYPE',
        'CERT_HAS_EXPIRED',
        'DEPTH_ZERO_SELF_SIGNED_CERT',
        'ERR_TLS_CERT_ALTNAME_INVALID'
      ]
    },
    class: 'final'
  },
  { when: { name: ['TimeoutError'] }, class: 'retryable' },
  { when: { name: ['ZodError', '$ZodError', 'SyntaxError'] }, class: 'final' },
  // HTTP answers that a later request may not meet again; every other 4xx is final
  { when: { status: [408, 421, 423, 425, 429, '5xx'] }, class: 'retryable' },
  { when: { status: ['4xx'] }, class: 'final' }
]
