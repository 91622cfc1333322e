import { defineHandler } from 'taskdeck'
import { z } from 'zod'

export default defineHandler({
  type: 'tick',
  description: 'Does nothing; a schedule of the fault run submits one a second',
  payload: z.object({}),
  example: {},
  execute: () => Promise.resolve(null)
})
