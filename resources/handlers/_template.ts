// A handler to begin with: copy this file and take the underscore from its name (files that start with _ are no handlers).
import { defineHandler, FinalError, RetryableError } from 'taskdeck'
import { z } from 'zod'

export default defineHandler({
  // What tasks name: letters, digits and . _ : -
  type: 'my-task',
  description: 'One line for the people who see it in a list.',
  // Checked before execute is called. What does not fit fails at once, and is never tried again.
  payload: z.object({ name: z.string().min(1) }),
  // Shown in forms.
  example: { name: 'Ada' },
  async execute(context, { name }) {
    // Long work asks now and then, and gives the signal to everything that waits: fetch, timers, streams.
    context.checkCancellation()
    context.progress({ total: 1, processed: 0 })

    // A worker may die after the effect and before the queue has heard of it: then this runs again with the same key. Give the
    // key to the system that you change, so that it recognises a repetition.
    const answer = await changeTheWorld(name, context.idempotencyKey, context.signal)
    if (answer === 'busy') throw new RetryableError('WORLD_BUSY', 'The world is busy: another attempt may succeed.')
    if (answer === 'unknown') throw new FinalError('NAME_UNKNOWN', `There is no ${name}: no attempt can succeed.`)

    context.progress({ total: 1, processed: 1, succeeded: 1 })
    context.log(`changed for ${name} (attempt ${context.attempt})`)
    // JSON, at most 64 KiB: the task's result.
    return { changed: name }
  }
})

/** Put your own work here. */
async function changeTheWorld(name: string, key: string, signal: AbortSignal): Promise<'done' | 'busy' | 'unknown'> {
  signal.throwIfAborted()
  return name === '' || key === '' ? 'unknown' : 'done'
}
