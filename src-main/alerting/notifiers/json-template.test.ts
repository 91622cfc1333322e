import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fillTemplate } from './json-template.ts'

const values = { title: 'a "b"\n', value: 12.5, since: null }
const filled = (template: string): unknown => JSON.parse(fillTemplate(template, values))

describe('JSON template', () => {
  it('puts a value into a string, or makes it a value of its own', () => {
    expect(
      filled('{"t": "[{{title}}]", "v": {{value}}, "s": {{ since }}, "w": {{title}}, "n": "{{value}}{{since}}"}')
    ).toEqual({
      t: '[a "b"\n]',
      v: 12.5,
      s: null,
      w: 'a "b"\n',
      n: '12.5'
    })
  })

  it('refuses what is no JSON when it is filled in, and says so', () => {
    for (const template of ['{"t": ', '{t: 1}', 'hello', '{"a": "\\{{title}}"}', '{{title}}{{title}}'])
      expect(() => fillTemplate(template, values)).toThrow(
        expect.objectContaining({ code: 'INVALID_INPUT', kind: 'user' }) as Error
      )
  })

  it('refuses a name that does not exist and lists those that do', () => {
    for (const name of ['nothing', 'toString', '__proto__', 'two words', ''])
      expect(() => fillTemplate(`{"a": "{{${name}}}"}`, values)).toThrow('There are: title, value, since')
  })

  it('lets no value end its string, add a key or become a placeholder', () => {
    const template = '{"in": "a{{title}}b\\\\{{title}}", "out": {{title}}, "last": true}'
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: 'binary' }),
          fc.constantFrom('"', '\\', '","x":1,"y":"', '{{value}}', '\\"', '\ud800')
        ),
        (title) => {
          const plain = title.toWellFormed()
          expect(JSON.parse(fillTemplate(template, { ...values, title }))).toEqual({
            in: `a${plain}b\\${plain}`,
            out: plain,
            last: true
          })
        }
      )
    )
  })
})
