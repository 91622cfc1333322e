import { z } from 'zod'

/** A message in the page's language is looked up by `code`; `message` is the English one. */
export const problem = z.object({
  code: z.string(),
  kind: z.enum(['user', 'operational', 'bug']),
  message: z.string(),
  details: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()]))
})
export type Problem = z.infer<typeof problem>
