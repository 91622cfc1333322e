// An idempotent handler in TypeScript: run it twice and the customer still gets one receipt.
// Start a worker with this folder: npm run worker -- --handlers resources/handlers
import { defineHandler, FinalError } from 'taskdeck'
import { z } from 'zod'
import { openOutbox } from './shared/outbox.ts'

const payload = z.object({
  order: z.string().min(1).describe('Number of the order'),
  email: z.email().describe('Who gets the receipt'),
  amount: z.number().positive()
})

export const sendReceipt = defineHandler({
  type: 'send-receipt',
  description: 'Puts a receipt into an outbox file, once for each task.',
  payload,
  example: { order: 'A-000001', email: 'ada@example.com', amount: 12.5 },
  async execute(context, { order, email, amount }) {
    if (amount > 10_000) throw new FinalError('AMOUNT_TOO_LARGE', `Receipts over 10,000 are sent by hand: ${amount}.`)
    const outbox = openOutbox()
    // The claim promises one worker at a time, not one execution: a worker may die between sending and settling. The key is
    // the same for every attempt, so the outbox (like most payment and mail services) recognises a repetition.
    const sent = await outbox.sendOnce(context.idempotencyKey, { to: email, subject: `Receipt for ${order}` })
    context.log(sent ? `sent to the outbox (attempt ${context.attempt})` : 'was sent by an earlier attempt')
    return { order, sent }
  }
})
