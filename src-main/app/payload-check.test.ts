import { expect, it } from 'vitest'
import { z } from 'zod'
import { requireFittingPayload } from './payload-check.ts'

const schemaOf = (schema: z.ZodType): Record<string, unknown> =>
  JSON.parse(JSON.stringify(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }))) as Record<string, unknown>
const greet = schemaOf(z.object({ name: z.string().min(1), times: z.int().min(1).default(1) }))

it('refuses what the schema refuses, and names the field', () => {
  expect(() => requireFittingPayload('{"name":5}', greet)).toThrow(
    expect.objectContaining({ code: 'INVALID_PAYLOAD', message: expect.stringContaining('name') as string }) as Error
  )
})

it('takes what fits, what it cannot judge, and leaves what is no JSON to others', () => {
  requireFittingPayload('{"name":"ada"}', greet)
  requireFittingPayload('{"when":"soon"}', schemaOf(z.object({ when: z.date() })))
  requireFittingPayload('{"name":', greet)
  requireFittingPayload('{}', { type: 'no such type' })
})
