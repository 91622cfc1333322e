import { z } from 'zod'
import { databaseHealth } from '../kernel/index.ts'
import { problem } from './problem.ts'

/** A look at the database, or why there was none; the app looks again by itself at `nextTryAt`. */
export const databaseEvent = z.discriminatedUnion('status', [
  z.object({ status: z.literal('seen'), health: databaseHealth }),
  z.object({ status: z.literal('failed'), problem, nextTryAt: z.number() })
])
export type DatabaseEvent = z.infer<typeof databaseEvent>
