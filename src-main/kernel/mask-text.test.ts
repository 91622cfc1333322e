import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { mask, maskText, textMask } from './mask-text.ts'

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

describe('masking the names that a user adds', () => {
  const hide = textMask(['salary', 'Home address', '工资', 'cost($)', 'a.*b', 'v[0]', 'n:o'])

  it.each([
    ['salary: 12000', `salary: ${mask}`],
    ['SALARY=12000&page=2', `SALARY=${mask}&page=2`],
    ['row {"salary": 12000, "n": 1', `row {"salary": ${mask}, "n": 1`],
    ['{"base_salary_2024":"1 2","n":1', `{"base_salary_2024":"${mask}","n":1`],
    ["'salary':'1 2'", `'salary':'${mask}'`],
    ['body "{\\"salary\\":\\"1 2\\",\\"n\\":1}"', `body "{\\"salary\\":\\"${mask}\\",\\"n\\":1}"`],
    [
      'home-address=x, homeAddress: y, "HOME ADDRESS" : "z z"',
      `home-address=${mask}, homeAddress: ${mask}, "HOME ADDRESS" : "${mask}"`
    ],
    ['工资：12000，工资总额=5', `工资：${mask}`],
    ['cost($)=5 a.*b=6 v[0]=7 n:o=8', `cost($)=${mask} a.*b=${mask} v[0]=${mask} n:o=${mask}`],
    ['at http://h/?salary=5&token=6', `at http://h/?salary=${mask}&token=${mask}`],
    ['password=1 salary=2', `password=${mask} salary=${mask}`]
  ])('hides the value of %s', (text, expected) => {
    expect(hide(text)).toBe(expected)
  })

  it.each(['the salary is fine, note: x', 'salary of Ada: x', 'axxb=1', 'cost=5', 'wages: 5', 'salary', 'salary=', ''])(
    'leaves %j as it is',
    (text) => {
      expect(hide(text)).toBe(text)
    }
  )

  it('hides nothing else when none is added', () => {
    expect(textMask([])('salary=1 password=2')).toBe(`salary=1 password=${mask}`)
  })

  it('hides any quoted value whole, and changes nothing more the second time', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (value) => {
        const inner = JSON.stringify({ salary: value })
        const once = hide(inner)
        expect(once).toBe(`{"salary":"${mask}"}`)
        expect(hide(once)).toBe(once)
        expect(hide(JSON.stringify(inner))).toBe(`"{\\"salary\\":\\"${mask}\\"}"`)
      }),
      { numRuns: 500 }
    )
    const words = fc.constantFrom(
      'salary',
      'password',
      '=',
      ':',
      ' ',
      '"',
      '\\',
      'abcdef',
      'http://',
      '@',
      'cookie',
      "'"
    )
    fc.assert(
      fc.property(fc.array(words, { maxLength: 12 }), (parts) => {
        const once = hide(parts.join(''))
        expect(hide(once)).toBe(once)
      }),
      { numRuns: 1000 }
    )
  })

  it.each([
    ['name beginnings', 'a'],
    ['short names', 'a='],
    ['long names', `${'a'.repeat(63)}=`],
    ['separators', ':'],
    ['open quotes', 'salary:"'],
    ['escaped quotes', 'salary:\\"\\\\'],
    ['backslashes', '\\']
  ])(
    'takes time in proportion to the length for 300,000 characters of %s, with as many and as long names as may be',
    (_name, unit) => {
      const alike = Array.from({ length: 99 }, (_, index) => `${'a'.repeat(61)}${String(index).padStart(3, '0')}`)
      const text = `${alike.join(' ')} ${unit.repeat(Math.ceil(300_000 / unit.length))} salary=5`
      const started = performance.now()
      textMask([...alike, 'salary'])(text)
      expect(performance.now() - started).toBeLessThan(15_000) // one expression of all names takes many minutes
    },
    60_000
  )
})
