import { describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { taskLimits } from '../../kernel/index.ts'
import { attemptErrorOf, classify, classOfHttpStatus, ErrorClassifier } from './error-classes.ts'
import { errorClassesFile } from './error-rules.ts'
import { FinalError, isPartialResult, ResourceError, RetryableError } from './handler.ts'

const withCode = (code: string): Error => Object.assign(new Error('it failed'), { code })

describe('classify', () => {
  it('leaves the decision to an error that decides by itself', () => {
    expect(classify(new RetryableError('BUSY', 'later'))).toEqual({
      code: 'BUSY',
      message: 'later',
      class: 'retryable'
    })
    expect(classify(new FinalError('NO', 'never')).class).toBe('final')
    expect(classify(new ResourceError('QUOTA', 'full')).class).toBe('resource')
  })

  it('so it does to one of another copy of the package, as a service has in its node_modules', async () => {
    vi.resetModules()
    const copy = await import('./handler.ts')
    expect(copy.FinalError).not.toBe(FinalError)
    expect(classify(new copy.FinalError('NO', 'never'))).toMatchObject({ code: 'NO', class: 'final' })
    expect(isPartialResult(copy.partial({}))).toBe(true)
  })

  it('takes a code that is no text, as JavaScript may give it, and keeps the decision', () => {
    const given = (code: unknown) => new FinalError(code as string, 'gone')
    expect(classify(given(404))).toEqual({ code: '404', message: 'gone', class: 'final' })
    for (const code of [undefined, null, {}, Symbol('s')])
      expect(classify(given(code))).toMatchObject({ code: 'ERROR', class: 'final' })
  })

  it('masks a secret in the message: it is stored, and many read it', () => {
    expect(classify(new FinalError('NO', 'refused mysql://app:s3cret@db/x')).message).toBe(
      'refused mysql://app:••••@db/x'
    )
    expect(classify(new Error('password=s3cret')).message).not.toContain('s3cret')
  })

  it.each([
    ['ECONNRESET', 'retryable'],
    ['ETIMEDOUT', 'retryable'],
    ['ENOSPC', 'resource'],
    ['SQLITE_FULL', 'resource'],
    ['ENOENT', 'final'],
    ['EACCES', 'final'],
    ['SOMETHING_ELSE', 'retryable']
  ])('classes the code %s as %s', (code, errorClass) => {
    expect(classify(withCode(code))).toMatchObject({ code, class: errorClass })
  })

  it('finds the network code that fetch hides in the cause', () => {
    const error = new TypeError('fetch failed', { cause: withCode('ECONNREFUSED') })
    expect(classify(error)).toMatchObject({ code: 'ECONNREFUSED', class: 'retryable' })
  })

  it('takes a schema mismatch as final', () => {
    const { error } = z.object({ a: z.string() }).safeParse({})
    expect(classify(error)).toMatchObject({ class: 'final' })
  })

  it('names an error without a code after its class', () => {
    expect(classify(new TypeError('x')).code).toBe('TYPE_ERROR')
    expect(classify(new Error('x')).code).toBe('ERROR')
  })

  it.each([undefined, null, 'text', 42, Symbol('s'), { some: 'object' }, Object.create(null), () => 1])(
    'has an answer for the thrown value %#',
    (thrown) => {
      expect(classify(thrown)).toMatchObject({ class: 'retryable', code: 'ERROR' })
    }
  )

  it('survives an error whose properties cannot be read', () => {
    const hostile = new Proxy(new Error('x'), {
      get() {
        throw new Error('hands off')
      }
    })
    expect(classify(hostile)).toMatchObject({ class: 'retryable', message: 'an error whose message cannot be read' })
  })

  it('cuts a huge message to what its column holds', () => {
    const { message } = classify(new Error(`\0\uD800${'🎩'.repeat(100_000)}`))
    expect(Buffer.byteLength(message)).toBeLessThanOrEqual(taskLimits.errorMessageBytes)
    expect(message.isWellFormed()).toBe(true)
  })

  it('keeps inherited names out of the table', () => {
    expect(classify(withCode('constructor'))).toMatchObject({ code: 'constructor', class: 'retryable' })
  })
})

describe('rules of the user', () => {
  const classifierOf = (rules: unknown[]): ErrorClassifier =>
    new ErrorClassifier(errorClassesFile.parse({ rules }).rules)
  const failed = (message: string, more: object = {}): Error => Object.assign(new Error(message), more)

  it('decide by code, name, HTTP status or message, before the built-in ones', () => {
    const errors = classifierOf([
      { when: { code: 'ENOENT' }, class: 'retryable' },
      { when: { name: ['BusyError', 'LimitError'] }, class: 'resource', code: 'THEIR_LIMIT' },
      { when: { status: [404, '5xx'] }, class: 'final' },
      { when: { message: '^quota of \\w+ used up' }, class: 'resource', code: 'QUOTA' }
    ])
    expect(errors.classify(withCode('ENOENT'))).toMatchObject({ code: 'ENOENT', class: 'retryable' })
    expect(errors.classify(failed('x', { name: 'LimitError' }))).toMatchObject({
      code: 'THEIR_LIMIT',
      class: 'resource'
    })
    expect(errors.classify(failed('x', { status: 404 }))).toMatchObject({ code: 'HTTP_404', class: 'final' })
    expect(errors.classify(failed('x', { response: { status: 503 } }))).toMatchObject({ class: 'final' })
    expect(errors.classify(failed('quota of Ada used up'))).toMatchObject({ code: 'QUOTA', class: 'resource' })
    expect(errors.classify(withCode('ENOSPC'))).toMatchObject({ class: 'resource' })
  })

  it('hold when all that they name holds; the first that does decides', () => {
    const errors = classifierOf([
      { when: { code: 'E_X', message: 'later' }, class: 'resource' },
      { when: { code: 'E_X' }, class: 'final' }
    ])
    expect(errors.classify(failed('try later', { code: 'E_X' }))).toMatchObject({ class: 'resource' })
    expect(errors.classify(failed('no', { code: 'E_X' }))).toMatchObject({ class: 'final' })
  })

  it('find the code in the cause, and leave typed errors alone', () => {
    const errors = classifierOf([{ when: { code: ['ECONNREFUSED', 'BUSY'] }, class: 'final' }])
    const hidden = new TypeError('fetch failed', { cause: withCode('ECONNREFUSED') })
    expect(errors.classify(hidden)).toMatchObject({ code: 'ECONNREFUSED', class: 'final' })
    expect(errors.classify(new RetryableError('BUSY', 'later')).class).toBe('retryable')
  })

  it.each([
    ['^(a|a)+$', 'a'.repeat(100)],
    ['^((a+))+$', 'a'.repeat(100)],
    ['a*a*a*a*a*c', 'a'.repeat(1_000)]
  ])('give up on a pattern that would try for ever, and go on with the next: %s', (message, text) => {
    const errors = classifierOf([
      { when: { message }, class: 'resource' },
      { when: { message: '!$' }, class: 'final' }
    ])
    expect(errors.classify(failed(`${text}!`)).class).toBe('final')
  })

  it.each([
    [{ when: {}, class: 'final' }, /names no condition/],
    [{ when: { code: 'X' }, class: 'never' }, /class/],
    [{ when: { status: 99 }, class: 'final' }, /status/],
    [{ when: { message: '(' }, class: 'final' }, /no regular expression/],
    [{ when: { message: 'x'.repeat(201) }, class: 'final' }, /200/],
    [{ when: { message: '(a+)+$' }, class: 'final' }, /more simply/],
    [{ when: { message: '(a|b*){5}' }, class: 'final' }, /more simply/],
    [{ when: { code: 'X' }, class: 'final', code: 'two words' }, /A-Z/],
    [{ when: { code: 'X', state: 1 }, class: 'final' }, /state/]
  ])('refuse %j and say why', (rule, message) => {
    const { error } = errorClassesFile.safeParse({ rules: [rule] })
    expect(z.prettifyError(error!)).toMatch(message)
  })
})

it.each([
  [429, 'retryable'],
  [503, 'retryable'],
  [404, 'final']
])('classes an error with the HTTP status %i as %s', (status, errorClass) => {
  const error = Object.assign(new Error('x'), { status })
  expect(classify(error)).toMatchObject({ code: `HTTP_${status}`, class: errorClass })
})

describe('attemptErrorOf', () => {
  it('makes a code that fits its column', () => {
    expect(attemptErrorOf('no code: at all!', '', 'final').code).toBe('no_code__at_all_')
    expect(attemptErrorOf('x'.repeat(100), '', 'final').code).toHaveLength(64)
    expect(attemptErrorOf('', '', 'final').code).toBe('ERROR')
  })
})

describe('classOfHttpStatus', () => {
  it.each([408, 425, 429, 500, 502, 503])('retries %i', (status) => expect(classOfHttpStatus(status)).toBe('retryable'))
  it.each([400, 401, 403, 404, 409, 422])('gives up on %i', (status) => expect(classOfHttpStatus(status)).toBe('final'))
})
