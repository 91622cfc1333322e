// A handler in plain JavaScript: progress, cancelling and a checkpoint.
import { defineHandler } from 'taskdeck'
import { z } from 'zod'

export default defineHandler({
  type: 'count-words',
  description: 'Counts the words of some texts, one after the other.',
  payload: z.object({ texts: z.array(z.string()).min(1) }),
  example: { texts: ['the quick brown fox', 'jumps over the lazy dog'] },
  async execute(context, { texts }) {
    const { next, words } = context.checkpoint ?? { next: 0, words: 0 }
    let counted = words
    for (let index = next; index < texts.length; index++) {
      context.checkCancellation()
      counted += texts[index].split(/\s+/).filter(Boolean).length
      context.progress({ total: texts.length, processed: index + 1, succeeded: index + 1 })
      await context.saveCheckpoint({ next: index + 1, words: counted })
    }
    return { words: counted }
  }
})
