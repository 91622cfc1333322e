// An HTTP call: which answers are worth another attempt, a deadline of its own, and a cancel that ends the call under way.
import { defineHandler, FinalError, ResourceError, RetryableError } from 'taskdeck'
import { z } from 'zod'

export const callWebhook = defineHandler({
  type: 'call-webhook',
  description: 'Posts an event to a web address.',
  payload: z.object({
    url: z.url({ protocol: /^https?$/ }),
    event: z.string().min(1),
    data: z.unknown().optional(),
    /** For the whole call; the task's own timeout goes on beside it. */
    timeoutMs: z.int().min(100).max(60_000).default(10_000)
  }),
  example: { url: 'https://example.com/hooks', event: 'order.paid', data: { order: 'A-000001' } },
  async execute(context, { url, event, data, timeoutMs }) {
    const deadline = AbortSignal.timeout(timeoutMs)
    let response: Response
    try {
      response = await fetch(url, {
        method: 'POST',
        // Receivers that keep the key answer a repetition as they answered the first call.
        headers: { 'content-type': 'application/json', 'idempotency-key': context.idempotencyKey },
        body: JSON.stringify({ event, data }),
        redirect: 'error',
        // Cancel, timeout of the task, lost lease and shut-down end the call at once.
        signal: AbortSignal.any([context.signal, deadline])
      })
      await response.body?.cancel()
    } catch (error) {
      // Asked to stop: that is no failure of the receiver.
      context.signal.throwIfAborted()
      if (deadline.aborted) throw new RetryableError('WEBHOOK_SLOW', `No answer within ${timeoutMs} ms.`)
      throw new RetryableError('WEBHOOK_UNREACHABLE', `${new URL(url).host} cannot be reached.`, { cause: error })
    }
    context.log(`${response.status} from ${new URL(url).host}`)
    return judge(response.status)
  }
})

/** The class decides what becomes of the task: again, again a little later, or never. */
function judge(status: number): { status: number } {
  if (status >= 200 && status < 300) return { status }
  if (status === 429) throw new ResourceError('WEBHOOK_LIMIT', 'The receiver asks for fewer calls (429).')
  if (status === 408 || status === 425 || status >= 500)
    throw new RetryableError('WEBHOOK_BUSY', `The receiver failed (${status}).`)
  throw new FinalError('WEBHOOK_REFUSED', `The receiver refuses the event (${status}).`)
}
