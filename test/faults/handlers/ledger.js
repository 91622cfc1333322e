// A handler with an effect outside the queue: one row per task in a ledger table, keyed by the task's idempotency key, as
// docs/handlers.md asks of every handler. `calls` counts how often an attempt got that far.
import { defineHandler } from 'taskdeck'
import mysql from 'mysql2/promise'
import { z } from 'zod'

/** @type {Promise<import('mysql2/promise').Pool> | undefined} */
let pool
const ledger = () =>
  (pool ??= Promise.resolve(mysql.createPool({ uri: process.env['LEDGER_URL'], connectionLimit: 1 })))

export default defineHandler({
  type: 'ledger',
  description: 'Writes one row into the ledger of a fault run',
  payload: z.object({ sleepMs: z.number() }),
  example: { sleepMs: 5 },
  async execute(ctx, payload) {
    await new Promise((resolve) => setTimeout(resolve, payload.sleepMs))
    const connection = await ledger()
    await connection.execute(
      'INSERT INTO effect (idempotency_key, attempt, calls) VALUES (?, ?, 1) ON DUPLICATE KEY UPDATE calls = calls + 1',
      [ctx.idempotencyKey, ctx.attempt]
    )
    return { ok: true }
  }
})
