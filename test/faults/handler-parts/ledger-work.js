// What the handlers of fault runs do: an effect outside the queue: one row per task in a ledger table, keyed by the task's idempotency key, as
// docs/handlers.md asks of every handler. `calls` counts how often an attempt got that far. Some payloads make it die on the way.
import mysql from 'mysql2/promise'
import { z } from 'zod'
import { isFirstTime } from './first-time.ts'

/** @type {Promise<import('mysql2/promise').Pool> | undefined} */
let pool
const ledger = () =>
  (pool ??= Promise.resolve(mysql.createPool({ uri: process.env['LEDGER_URL'], connectionLimit: 1 })))

const payload = z.object({
  title: z.string(),
  sleepMs: z.number(),
  /** Named points at which the whole process is killed, once; those of the queue's calls are in process/recorded-queue.ts. */
  dieAt: z.enum(['claimed', 'handler', 'effect', 'ending', 'ended']).optional(),
  /** How the handler's thread ends. */
  crash: z.enum(['exit', 'heap', 'spin']).optional(),
  /** In every attempt, not only in one. */
  crashAlways: z.boolean().optional(),
  /** The settlement is delivered twice. */
  twice: z.boolean().optional()
})

/** @param {string} how */
function crashThread(how) {
  if (how === 'exit') process.exit(3)
  if (how === 'spin') for (;;);
  const rows = []
  for (;;) rows.push(new Array(1_000_000).fill(rows.length))
}

/** @type {{ payload: typeof payload, example: { title: string, sleepMs: number }, execute: (ctx: { attempt: number, idempotencyKey: string }, work: import('zod').infer<typeof payload>) => Promise<{ ok: boolean }> }} */
export const ledgerWork = {
  payload,
  example: { title: 'n1', sleepMs: 5 },
  async execute(ctx, { title, sleepMs, dieAt, crash, crashAlways }) {
    const dies = (/** @type {string} */ point) => {
      if (dieAt === point && isFirstTime(point, title)) process.kill(process.pid, 'SIGKILL')
    }
    dies('handler')
    await new Promise((resolve) => setTimeout(resolve, sleepMs))
    if (crash && (isFirstTime(crash, title) || crashAlways)) crashThread(crash)
    const connection = await ledger()
    await connection.execute(
      'INSERT INTO effect (idempotency_key, title, attempt, calls) VALUES (?, ?, ?, 1) ON DUPLICATE KEY UPDATE calls = calls + 1',
      [ctx.idempotencyKey, title, ctx.attempt]
    )
    dies('effect')
    return { ok: true }
  }
}
