import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defineHandler, type HandlerDefinition } from './handler.ts'

const whole: HandlerDefinition = {
  type: 'greet',
  description: '',
  payload: z.object({}),
  example: {},
  execute: () => null
}

describe('a handler', () => {
  it.each([
    ['execute', 'The handler "greet" has no execute function.'],
    ['payload', 'The handler "greet" has no payload: give it a zod schema, z.object({}) for none.']
  ])('without %s is refused when its file is read', (part, message) => {
    const { [part as keyof HandlerDefinition]: _left, ...rest } = whole
    expect(() => defineHandler(rest as HandlerDefinition)).toThrow(message)
  })

  it('that is whole is what its file exports', async () => {
    await expect(Promise.resolve(defineHandler(whole).execute({} as never, {}))).resolves.toBeNull()
  })
})
