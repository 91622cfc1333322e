import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { taskLimits } from '../kernel/index.ts'
import { storableArtifact, storableError, storableProgress, storableResult, truncateUtf8 } from './stored-text.ts'

describe('truncateUtf8', () => {
  it('cuts on a character border', () => {
    expect(truncateUtf8('abc', 2)).toBe('ab')
    expect(truncateUtf8('é', 1)).toBe('')
    expect(truncateUtf8('a🎩b', 4)).toBe('a')
    expect(truncateUtf8('a🎩b', 5)).toBe('a🎩')
    expect(truncateUtf8('中文', 5)).toBe('中')
  })

  it('replaces NULs and lone surrogates', () => {
    expect(truncateUtf8('a\0b\uD83Cc', 100)).toBe('a\uFFFDb\uFFFDc')
  })

  it('fits and survives UTF-8 whatever comes in', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.nat(40), (text, max) => {
        const cut = truncateUtf8(text, max)
        expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(max)
        expect(Buffer.from(cut).toString()).toBe(cut)
        expect(cut).not.toContain('\0')
      })
    )
    const units = fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 60 })
    fc.assert(
      fc.property(units, fc.nat(40), (codes, max) => {
        const cut = truncateUtf8(String.fromCharCode(...codes), max)
        expect(cut.isWellFormed()).toBe(true)
        expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(max)
      })
    )
  })
})

describe('what a worker reports is made storable', () => {
  it('an error of 20 MB with NULs and half emoji', () => {
    const error = storableError({ code: 'c'.repeat(1000), message: '\uD83C\0'.repeat(10_000_000), class: 'retryable' })
    expect(Buffer.byteLength(error.message)).toBeLessThanOrEqual(taskLimits.errorMessageBytes)
    expect(error.code).toHaveLength(64)
  })

  it('an error without a code, or of an unknown class', () => {
    const unknown = { code: '', message: 'm', class: 'odd' } as unknown as Parameters<typeof storableError>[0]
    expect(storableError(unknown)).toEqual({ code: 'UNKNOWN', message: 'm', class: 'retryable' })
  })

  it('counts that are negative, fractional or no numbers', () => {
    const odd = { total: -5, processed: Number.NaN, succeeded: 1.6, failed: Number.POSITIVE_INFINITY, skipped: 2 }
    expect(storableProgress(odd)).toEqual({ total: 0, processed: 0, succeeded: 2, failed: 0, skipped: 2 })
  })

  it('a file with long names and no whole size', () => {
    const long = 'ä'.repeat(1_000)
    const artifact = { name: long, contentType: long, bytes: -1.5, host: long, path: long, expiresInMs: 1 }
    const { bytes, ...texts } = storableArtifact(artifact)
    expect(bytes).toBe(0)
    const lengths = Object.entries(texts).map(([name, value]) => [name, Buffer.byteLength(value)])
    expect(Object.fromEntries(lengths)).toEqual({ name: 200, contentType: 100, host: 254, path: 1_000 })
  })

  it('a result over the limit becomes a note that is JSON', () => {
    expect(storableResult('{"a":1}')).toBe('{"a":1}')
    expect(storableResult(null)).toBeNull()
    const note = storableResult(JSON.stringify('x'.repeat(taskLimits.resultBytes)))
    expect(JSON.parse(note ?? '')).toMatchObject({ bytes: taskLimits.resultBytes + 2 })
  })
})
