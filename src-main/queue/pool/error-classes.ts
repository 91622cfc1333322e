import { maskText, taskLimits, type AttemptError, type ErrorClass, type MaskText } from '../../kernel/index.ts'
import { truncateUtf8 } from '../stored-text.ts'
import { BoundedPattern } from './bounded-pattern.ts'
import { builtInRules, type ErrorRule } from './error-rules.ts'
import { httpStatusOf, messageOf, textProperty } from './error-text.ts'
import { isHandlerError } from './handler.ts'

/** Of a message, as patterns see it. */
const matchedLength = 2_000
/** Of a message, what is looked at for secrets: far more than is kept, and the same time for one of 20 MB. */
const maskedLength = 65_536

/** What rules are compared with. */
interface Evidence {
  readonly code: string | undefined
  readonly name: string | undefined
  readonly status: number | undefined
  readonly message: string
}

interface CompiledRule {
  readonly rule: ErrorRule
  readonly pattern: BoundedPattern | undefined
}

/** Classes errors by rules; the first that fits decides. `own` come before the built-in ones. */
export class ErrorClassifier {
  private readonly rules: readonly CompiledRule[]

  constructor(own: readonly ErrorRule[] = []) {
    this.rules = [...own, ...builtInRules].map((rule) => ({
      rule,
      pattern: rule.when.message === undefined ? undefined : new BoundedPattern(rule.when.message)
    }))
  }

  /** Any thrown value as an attempt's error. Never throws. What is unknown is retried: attempts are bounded. */
  classify(thrown: unknown): AttemptError {
    if (isHandlerError(thrown)) return attemptErrorOf(codeOf(thrown), messageOf(thrown), thrown.errorClass)
    // `fetch` hides the network's code in the cause.
    const cause = thrown instanceof Error ? causeOf(thrown) : undefined
    const own = evidenceOf(thrown)
    const found = this.find(own) ?? (cause === undefined ? undefined : this.find(evidenceOf(cause), 'code'))
    const code = found?.rule.code ?? found?.code ?? own.code ?? nameless(own)
    return attemptErrorOf(code, messageOf(thrown), found?.rule.class ?? 'retryable')
  }

  /** `only`: rules that name a code. */
  private find(evidence: Evidence, only?: 'code'): { rule: ErrorRule; code: string | undefined } | undefined {
    for (const { rule, pattern } of this.rules) {
      if (only !== undefined && rule.when[only] === undefined) continue
      if (fits(rule, pattern, evidence)) return { rule, code: rule.when.code === undefined ? undefined : evidence.code }
    }
    return undefined
  }
}

function fits({ when }: ErrorRule, pattern: BoundedPattern | undefined, evidence: Evidence): boolean {
  const { code, name, status, message } = evidence
  if (when.code && (code === undefined || !when.code.includes(code))) return false
  if (when.name && (name === undefined || !when.name.includes(name))) return false
  if (when.status && (status === undefined || !includesStatus(when.status, status))) return false
  return pattern === undefined || pattern.isIn(message)
}

function includesStatus(wanted: NonNullable<ErrorRule['when']['status']>, status: number): boolean {
  const family = `${Math.floor(status / 100)}xx`
  return wanted.some((one) => one === status || one === family)
}

function evidenceOf(thrown: unknown): Evidence {
  return {
    code: textProperty(thrown, 'code'),
    name: textProperty(thrown, 'name'),
    status: httpStatusOf(thrown),
    message: messageOf(thrown).slice(0, matchedLength)
  }
}

/** What the built-in rules say of an answer that is no success. */
export function classOfHttpStatus(status: number): ErrorClass {
  const rule = builtInRules.find(({ when }) => when.status && includesStatus(when.status, status))
  return rule?.class ?? 'final'
}

const builtIn = new ErrorClassifier()

/** By the built-in rules alone. */
export const classify = (thrown: unknown): AttemptError => builtIn.classify(thrown)

/** The same with what the user wants hidden masked too, of which the threads know nothing. */
export const maskedError = (error: AttemptError, mask: MaskText): AttemptError => ({
  ...error,
  message: truncateUtf8(mask(error.message), taskLimits.errorMessageBytes)
})

/** A code and a message that fit their columns; obvious secrets are masked, for many may read it. */
export function attemptErrorOf(code: string, message: string, errorClass: ErrorClass): AttemptError {
  const safeCode = code.replace(/[^A-Za-z0-9_]/g, '_').slice(0, 64)
  return {
    code: safeCode === '' ? 'ERROR' : safeCode,
    message: truncateUtf8(maskText(message.slice(0, maskedLength)), taskLimits.errorMessageBytes),
    class: errorClass
  }
}

/** Handlers are mostly JavaScript, which takes any value for a code. */
function codeOf({ code }: { readonly code: unknown }): string {
  return typeof code === 'string' || typeof code === 'number' ? String(code) : 'ERROR'
}

function causeOf(error: Error): unknown {
  try {
    return error.cause
  } catch {
    return undefined
  }
}

/** `TimeoutError` becomes TIMEOUT_ERROR; an Error with an HTTP status HTTP_503. */
function nameless({ name, status }: Evidence): string {
  if (name === undefined || name === 'Error' || name === '') return status === undefined ? 'ERROR' : `HTTP_${status}`
  return name
    .replace(/^\$/, '')
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toUpperCase()
}
