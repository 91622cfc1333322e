import { z } from 'zod'
import { systemClock } from '../../../kernel/index.ts'
import { defineHandler } from '../handler.ts'

export const sleepHandler = defineHandler({
  type: 'sleep',
  description: 'Waits, then succeeds. Stops at once when it is cancelled.',
  payload: z.object({ ms: z.int().min(0).max(86_400_000).describe('How long, milliseconds') }),
  example: { ms: 1000 },
  async execute(context, { ms }) {
    if (ms > 0) await systemClock.sleep(ms, context.signal)
    return { sleptMs: ms }
  }
})
