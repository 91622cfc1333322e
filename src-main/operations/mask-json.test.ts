import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { mask, maskText } from '../kernel/index.ts'
import { builtInKeys, maskedFieldsShown, maskingWith } from './mask-json.ts'

const maskJson = maskingWith([]).json

type Json = null | boolean | number | string | Json[] | { [key: string]: Json }

/** The same on parsed values; without exact numbers and for tame depths. */
function expected(value: Json): Json {
  if (typeof value === 'string') return maskText(value)
  if (Array.isArray(value)) return value.map(expected)
  if (value === null || typeof value !== 'object') return value
  const names = builtInKeys.map((key) => key.toLowerCase())
  const isSensitive = (key: string): boolean =>
    names.some((name) =>
      key
        .normalize('NFKC')
        .toLowerCase()
        .replace(/[\s_.-]/g, '')
        .includes(name)
    )
  const entries = Object.entries(value).map(([key, inner]): [string, Json] => [
    key,
    inner !== null && isSensitive(key) ? mask : expected(inner)
  ])
  return Object.fromEntries(entries)
}

const key = fc.oneof(
  fc.constantFrom('password', 'api-key', 'API_KEY', 'a"b', '\\', 'user', 'Phone', '手机号', 'n'),
  fc.string({ unit: 'binary' })
)
const { tree } = fc.letrec<{ tree: Json }>((tie) => ({
  tree: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom<Json[]>(null, true, false, 'Bearer abcdefgh', 'a\\"b', '{"token":"x"}'),
    fc.string({ unit: 'binary' }),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.array(tie('tree'), { maxLength: 4 }),
    fc.dictionary(key, tie('tree'), { maxKeys: 5 }) as fc.Arbitrary<Json>
  )
}))

describe('masking JSON', () => {
  it('masks at any depth and names the fields', () => {
    const text =
      '{"user":{"phones":["1","2"],"name":"Ada"},"list":[{"Api-Key":"k"},{"api_key":null}],"x y":{"token":{"a":[1]}}}'
    expect(maskJson(text)).toEqual({
      text: `{"user":{"phones":"${mask}","name":"Ada"},"list":[{"Api-Key":"${mask}"},{"api_key":null}],"x y":{"token":"${mask}"}}`,
      maskedFields: ['user.phones', 'list[0].Api-Key', '["x y"].token']
    })
  })

  it('leaves numbers and layout exactly as they are written', () => {
    const text =
      '{\n  "id" : 9223372036854775807, "e":1e400,\t"z":-0.0, "one": 1.000,\r\n "list": [ 0.1, 12345678901234567890.5 ] }'
    expect(maskJson(text)).toEqual({ text, maskedFields: [] })
    expect(maskJson('{"id":9007199254740993,"password":12345678901234567890}').text).toBe(
      `{"id":9007199254740993,"password":"${mask}"}`
    )
  })

  it('is not fooled by escapes in names, by quotes in values or by names that are values', () => {
    expect(maskJson(String.raw`{"p\u0061ssword":"a\"b\\","x":"password"}`).text).toBe(
      String.raw`{"p\u0061ssword":"${mask}","x":"password"}`
    )
    expect(maskJson('["password","secret"]').maskedFields).toEqual([])
  })

  it('masks secrets inside other strings', () => {
    expect(maskJson('{"url":"mysql://u:p@h/db","body":"{\\"token\\":\\"t\\"}"}')).toEqual({
      text: `{"url":"mysql://u:${mask}@h/db","body":"{\\"token\\":\\"${mask}\\"}"}`,
      maskedFields: ['url', 'body']
    })
  })

  it('masks added names beside the built-in ones, however they are written, and in texts within', () => {
    const { json } = maskingWith(['Home address', '工资', 'a.*b($)'])
    expect(
      json('{"homeAddress":{"x":1},"HOME_ADDRESS_2":1,"月工资":9,"a.*b($)":1,"axb":1,"password":2,"n":3}').text
    ).toBe(
      `{"homeAddress":"${mask}","HOME_ADDRESS_2":"${mask}","月工资":"${mask}","a.*b($)":"${mask}","axb":1,"password":"${mask}","n":3}`
    )
    expect(json('{"note":"home-address: Here, 工资=9"}').text).toBe(`{"note":"home-address: ${mask}, 工资=${mask}"}`)
    expect(json('{"salary":9,').text).toBe('{"salary":9,')
    expect(json('{"工资":9,').text).toBe(`{"工资":${mask},`)
  })

  it('masks what is not JSON as free text', () => {
    expect(maskJson('{"password":"abc", oops')).toEqual({ text: `{"password":"${mask}", oops`, maskedFields: [] })
    expect(maskJson('')).toEqual({ text: '', maskedFields: [] })
  })

  it('does the same as masking the parsed value, whatever the value and its layout', () => {
    fc.assert(
      fc.property(tree, fc.constantFrom(0, 2, '\t'), (value, layout) => {
        const text = JSON.stringify(value, null, layout)
        expect(JSON.parse(maskJson(text).text)).toEqual(expected(JSON.parse(text) as Json))
      }),
      { numRuns: 1000 }
    )
  })

  it('changes no character when nothing is sensitive', () => {
    fc.assert(
      fc.property(tree, (value) => {
        const text = JSON.stringify(value)
        if (JSON.stringify(expected(JSON.parse(text) as Json)) === text) expect(maskJson(text).text).toBe(text)
      })
    )
  })

  it('bears the largest payloads: deep, wide, and all secrets', () => {
    const deep = '['.repeat(200_000) + ']'.repeat(200_000)
    expect(maskJson(deep).text).toBe(deep)
    const deepSecret = '{"a":'.repeat(100_000) + '{"pin token":1}' + '}'.repeat(100_000)
    expect(maskJson(deepSecret).text).toContain(`"pin token":"${mask}"`)
    expect(maskJson(deepSecret).maskedFields[0]?.length).toBeLessThan(250)
    const wide = `[${Array.from({ length: 60_000 }, () => '{"token":"x"}').join()}]`
    const masked = maskJson(wide)
    expect(masked.text).not.toContain('"x"')
    expect(masked.maskedFields).toHaveLength(maskedFieldsShown)
  }, 60_000)
})
