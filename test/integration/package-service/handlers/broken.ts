import { defineHandler, FinalError } from 'taskdeck'
import { z } from 'zod'

export const broken = defineHandler({
  type: 'broken',
  payload: z.object({}),
  execute: () => {
    throw new FinalError('BROKEN', 'it never works: salary=5')
  }
})
