import { describe, expect, it } from 'vitest'
import { effectKey, idempotencyHash, payloadHash } from './idempotency.ts'

const hash = (type: string, owner: string, key: string): string =>
  Buffer.from(idempotencyHash({ type, owner, key })).toString('hex')

describe('idempotencyHash', () => {
  it('is 32 bytes and the same for the same key', () => {
    expect(idempotencyHash({ type: 't', owner: 'o', key: 'k' })).toHaveLength(32)
    expect(hash('t', 'o', 'k')).toBe(hash('t', 'o', 'k'))
  })

  it('tells apart what collations and concatenation would not', () => {
    const keys = [
      hash('t', 'o', 'a'),
      hash('t', 'o', 'A'),
      hash('t', 'o', 'a '),
      hash('t', 'o', '🎩'),
      hash('t', 'o', '💥'),
      hash('t', 'oa', ''),
      hash('to', '', 'a'),
      hash('a', 'o', 't')
    ]
    expect(new Set(keys).size).toBe(keys.length)
  })
})

describe('effectKey', () => {
  it('is the hash of the key where the producer gave one', () => {
    const key = idempotencyHash({ type: 't', owner: '', key: 'k' })
    expect(effectKey({ taskId: '1', createdAt: 'x', idempotencyHash: key })).toBe(Buffer.from(key).toString('hex'))
  })

  it('tells apart tasks with one id in two databases', () => {
    const key = (createdAt: string): string => effectKey({ taskId: '1', createdAt, idempotencyHash: null })
    expect(key('2026-01-01 00:00:00.000000')).toBe(key('2026-01-01 00:00:00.000000'))
    expect(key('2026-01-01 00:00:00.000000')).not.toBe(key('2026-01-01 00:00:00.000001'))
  })
})

it('a payload hash follows the text', () => {
  expect(payloadHash('{"a":1}')).toEqual(payloadHash('{"a":1}'))
  expect(payloadHash('{"a":1}')).not.toEqual(payloadHash('{"a": 1}'))
})
