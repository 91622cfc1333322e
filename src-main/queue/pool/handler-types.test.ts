import { describe, expectTypeOf, it } from 'vitest'
import { z } from 'zod'
import { defineHandler, type Handler, type HandlerContext } from './handler.ts'

/* Checked by the compiler (`npm test -- --only types`), not by what runs here. */

const schema = z.object({
  order: z.string(),
  copies: z.number().default(1),
  at: z.string().transform((text) => new Date(text))
})

describe('defineHandler', () => {
  it('gives execute what the schema makes of the payload', () => {
    defineHandler({
      type: 'typed',
      payload: schema,
      execute(context, payload) {
        expectTypeOf(payload).toEqualTypeOf<{ order: string; copies: number; at: Date }>()
        expectTypeOf(context).toEqualTypeOf<HandlerContext>()
      }
    })
  })

  it('takes an example of what producers send, and refuses another', () => {
    defineHandler({ type: 'typed', payload: schema, example: { order: 'A', at: '2026-01-01' }, execute: () => null })
    // @ts-expect-error the example lacks the order
    defineHandler({ type: 'typed', payload: schema, example: { at: '2026-01-01' }, execute: () => null })
  })

  it('keeps the schema for producers, and is a handler among others', () => {
    const handler = defineHandler({ type: 'typed', payload: schema, execute: () => null })
    expectTypeOf(handler).toEqualTypeOf<Handler<typeof schema>>()
    expectTypeOf<z.input<typeof handler.payload>>().toEqualTypeOf<{ order: string; copies?: number; at: string }>()
    expectTypeOf(handler).toExtend<Handler>()
  })
})

it('the context has what handlers need', () => {
  expectTypeOf<HandlerContext['signal']>().toEqualTypeOf<AbortSignal>()
  expectTypeOf<HandlerContext['idempotencyKey']>().toBeString()
  expectTypeOf<HandlerContext['attempt']>().toBeNumber()
  expectTypeOf<HandlerContext['checkpoint']>().toBeUnknown()
  expectTypeOf<HandlerContext['checkCancellation']>().toEqualTypeOf<() => void>()
  expectTypeOf<HandlerContext['log']>().toBeCallableWith('text')
  expectTypeOf<HandlerContext['log']>().toBeCallableWith('warn', 'text')
  expectTypeOf<HandlerContext['progress']>().toBeCallableWith({ total: 10, processed: 1 })
  expectTypeOf<HandlerContext['artifact']>().toBeCallableWith({ name: 'a.csv', contentType: 'text/csv', content: '' })
  expectTypeOf<HandlerContext['saveCheckpoint']>().returns.resolves.toBeVoid()
  expectTypeOf<HandlerContext['rows']['count']>().returns.resolves.toBeNumber()
})
