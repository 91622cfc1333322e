import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { mask, maskText } from './mask-text.ts'

describe('masking free text', () => {
  it.each([
    ['Authorization: Bearer abc.def-123', `Authorization: ${mask}`],
    ['sent with bearer abcdef123456 twice', `sent with bearer ${mask} twice`],
    ['cannot reach mysql://root:p@ss/w0rd@db:3306/q now', `cannot reach mysql://root:${mask}@db:3306/q now`],
    ['GET /x?token=abc&page=2', `GET /x?token=${mask}&page=2`],
    ["login(password='a b', user='u')", `login(password='${mask}', user='u')`],
    ['{"api_key": "k\\"k", "n": 1', `{"api_key": "${mask}", "n": 1`],
    ['body "{\\"password\\":\\"a\\\\\\"b\\",\\"n\\":1}"', `body "{\\"password\\":\\"${mask}\\",\\"n\\":1}"`],
    ['Cookie: a=b; c=d\nnext', `Cookie: ${mask}\nnext`],
    ['jwt eyJhbGciOiJI.eyJzdWIiOiI.c2ln end', `jwt ${mask} end`],
    ['-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----', mask]
  ])('hides the secret of %s', (text, expected) => {
    expect(maskText(text)).toBe(expected)
  })

  it.each(['imported 9,800 of 10,000 rows', 'http://host:80/a', 'the password is wrong', 'user@host', ''])(
    'leaves %j as it is',
    (text) => {
      expect(maskText(text)).toBe(text)
    }
  )

  it('hides any quoted password whole, in JSON and in JSON within JSON, however it is escaped', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (secret) => {
        const inner = JSON.stringify({ password: secret })
        expect(maskText(inner)).toBe(`{"password":"${mask}"}`)
        expect(maskText(JSON.stringify(inner))).toBe(`"{\\"password\\":\\"${mask}\\"}"`)
      }),
      { numRuns: 500 }
    )
  })

  it('changes nothing more the second time', () => {
    const words = fc.constantFrom(
      'password',
      '=',
      ':',
      ' ',
      '"',
      '\\',
      'Bearer ',
      'abcdef',
      'http://',
      '@',
      'cookie',
      "'"
    )
    fc.assert(
      fc.property(fc.array(words, { maxLength: 12 }), (parts) => {
        const once = maskText(parts.join(''))
        expect(maskText(once)).toBe(once)
      }),
      { numRuns: 1000, examples: [[['http://', 'password', ':', '\\', '@']]] }
    )
  })

  it.each([
    ['open quotes', 'password:"'],
    ['escaped quotes', 'token:\\"\\\\'],
    ['key beginnings', '-----BEGIN PRIVATE KEY-----'],
    ['token beginnings', '-eyJaaaaaaaa'],
    ['address beginnings', 'a://a:']
  ])(
    'takes time in proportion to the length for a million characters of %s',
    (_name, unit) => {
      const text = unit.repeat(Math.ceil(1_000_000 / unit.length))
      const started = performance.now()
      maskText(text)
      expect(performance.now() - started).toBeLessThan(15_000) // quadratic ones take minutes, also on a busy machine
    },
    60_000
  )
})
