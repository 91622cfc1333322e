import { describe, expect, it } from 'vitest'
import { demoHandlers } from '@/testing/demo-handlers.ts'
import { checkedText, fieldsOf, payloadOf, valuesOf } from './schema-form.ts'

const schemaOf = (type: string) => demoHandlers.find((one) => one.type === type)!
const flaky = schemaOf('flaky')
const object = (properties: Record<string, unknown>, required: string[] = []) => ({
  type: 'object',
  properties,
  required
})

describe('a form', () => {
  it('has an input of its own for each simple type, and JSON for everything else', () => {
    const fields = fieldsOf(
      object({
        s: { type: 'string' },
        i: { type: 'integer' },
        n: { type: 'number' },
        b: { type: 'boolean' },
        e: { type: 'string', enum: ['x', 'y'] },
        maybe: { type: ['string', 'null'] },
        list: { type: 'array' },
        mixed: { anyOf: [{ type: 'string' }, { type: 'number' }] },
        odd: { enum: ['x', { a: 1 }] },
        any: {}
      })
    )!
    expect(fields.map((field) => field.kind)).toEqual([
      'string',
      'integer',
      'number',
      'boolean',
      'enum',
      'string',
      'json',
      'json',
      'json',
      'json'
    ])
  })

  it('is not made where a schema is no object or is missing', () => {
    expect(fieldsOf(null)).toBeNull()
    expect(fieldsOf({ type: 'array' })).toBeNull()
    expect(fieldsOf({ anyOf: [] })).toBeNull()
  })

  it('starts with the example and builds it back', () => {
    const fields = fieldsOf(flaky.payloadSchema)!
    const built = payloadOf(fields, valuesOf(fields, flaky.example))
    expect('payload' in built && JSON.parse(built.payload)).toEqual(JSON.parse(flaky.example))
  })

  it('leaves empty fields out, so that the handler takes its own defaults', () => {
    const fields = fieldsOf(flaky.payloadSchema)!
    expect(payloadOf(fields, valuesOf(fields, '{}'))).toEqual({ payload: '{}' })
    expect(fields.find((field) => field.name === 'probability')?.preset).toBe('0.3')
  })

  it('keeps false, 0 and fields with a lone space', () => {
    const fields = fieldsOf(object({ b: { type: 'boolean' }, n: { type: 'number' }, s: { type: 'string' } }))!
    expect(payloadOf(fields, { b: false, n: 0, s: ' ' })).toEqual({ payload: '{"b":false,"n":0,"s":" "}' })
  })

  it('names every field that is missing or is not JSON', () => {
    const fields = fieldsOf(object({ file: { type: 'string' }, columns: { type: 'object' } }, ['file']))!
    expect(payloadOf(fields, { file: '', columns: '{"a":' })).toEqual({
      faults: [
        { field: 'file', kind: 'required' },
        { field: 'columns', kind: 'invalidJson' }
      ]
    })
  })

  it('reads JSON fields as JSON', () => {
    const fields = fieldsOf(object({ columns: { type: 'object' } }))!
    expect(payloadOf(fields, { columns: ' {"a": 1} ' })).toEqual({ payload: '{"columns":{"a":1}}' })
  })
})

describe('JSON written by hand', () => {
  it('is sent exactly as it was written', () => {
    const text = '{ "id": 9007199254740993 }'
    expect(checkedText(text)).toEqual({ payload: text })
  })

  it('is refused when it is broken or too large, before anything is sent', () => {
    expect(checkedText('{')).toEqual({ faults: [{ field: '', kind: 'invalidJson' }] })
    expect(checkedText('')).toEqual({ faults: [{ field: '', kind: 'invalidJson' }] })
    expect(checkedText(JSON.stringify('é'.repeat(524_288)))).toEqual({ faults: [{ field: '', kind: 'tooLarge' }] })
  })
})
