import { z } from 'zod'
import { systemClock } from '../../../kernel/index.ts'
import { defineHandler, HandlerError } from '../handler.ts'

export const flakyHandler = defineHandler({
  type: 'flaky',
  description: 'Fails on purpose: the first attempts, or by chance.',
  payload: z.object({
    failFirst: z.int().min(0).default(0).describe('Attempts that always fail'),
    probability: z.number().min(0).max(1).default(0.3).describe('Chance that a later attempt fails'),
    errorClass: z.enum(['retryable', 'final', 'resource']).default('retryable'),
    ms: z.int().min(0).max(3_600_000).default(0).describe('Time before the outcome, milliseconds')
  }),
  example: { failFirst: 1, probability: 0.2, ms: 200 },
  async execute(context, { failFirst, probability, errorClass, ms }) {
    if (ms > 0) await systemClock.sleep(ms, context.signal)
    if (context.attempt <= failFirst || systemClock.random() < probability) {
      throw new HandlerError(errorClass, 'FLAKY', `Attempt ${context.attempt} fails on purpose.`)
    }
    return { attempt: context.attempt }
  }
})
