import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { taskLimits } from '../../kernel/index.ts'
import { attemptErrorOf, classify, classOfHttpStatus } from './error-classes.ts'
import { FinalError, ResourceError, RetryableError } from './handler.ts'

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
