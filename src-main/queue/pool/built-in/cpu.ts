import { z } from 'zod'
import { systemClock } from '../../../kernel/index.ts'
import { defineHandler } from '../handler.ts'

export const cpuHandler = defineHandler({
  type: 'cpu',
  description: 'Computes without ever yielding: shows that heartbeats and cancelling do not depend on the handler.',
  payload: z.object({ ms: z.int().min(1).max(3_600_000).describe('How long, milliseconds') }),
  example: { ms: 2000 },
  execute(context, { ms }) {
    const end = systemClock.monotonic() + ms
    let rounds = 0
    let state = 1
    while (systemClock.monotonic() < end) {
      context.checkCancellation()
      for (let step = 0; step < 10_000; step++) state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
      rounds++
    }
    return { rounds, state }
  }
})
