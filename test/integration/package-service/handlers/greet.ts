import { defineHandler } from 'taskdeck'
import { z } from 'zod'

export const greet = defineHandler({
  type: 'greet',
  payload: z.object({ name: z.string(), times: z.number().int().default(1) }),
  execute(context, { name, times }) {
    context.log(`attempt ${context.attempt}`)
    return { greeting: `Hello ${name}`.repeat(times), key: context.idempotencyKey }
  }
})
