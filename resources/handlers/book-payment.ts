// An idempotent write: a payment is booked once, however often the handler runs. The table remembers the key of the task in the same
// transaction as the effect, which is the strongest way there is, and works whenever the effect is in a database of your own.
//
//   CREATE TABLE account (id VARCHAR(40) PRIMARY KEY, balance_cents BIGINT NOT NULL);
//   CREATE TABLE payment (idempotency_key CHAR(64) CHARACTER SET ascii PRIMARY KEY, account VARCHAR(40) NOT NULL,
//     amount_cents BIGINT NOT NULL);
//
// PAYMENTS_DATABASE in the worker's environment says where they are: mysql://user:password@host:port/database.
import { createConnection, type Connection, type ResultSetHeader } from 'mysql2/promise'
import { defineHandler, FinalError } from 'taskdeck'
import { z } from 'zod'

export const bookPayment = defineHandler({
  type: 'book-payment',
  description: 'Books a payment on an account, once for each task.',
  payload: z.object({ account: z.string().min(1), amountCents: z.int().positive() }),
  example: { account: 'A-1', amountCents: 1250 },
  async execute(context, { account, amountCents }) {
    const address = process.env['PAYMENTS_DATABASE']
    if (!address) throw new FinalError('NOT_CONFIGURED', 'Set PAYMENTS_DATABASE where the worker is started.')
    // Errors of the connection (refused, lost, timed out) need no words here: they are classed as retryable by their codes.
    const connection = await createConnection({ uri: address, connectTimeout: 5_000 })
    // A database that does not answer must not outlive the order to stop.
    const hangUp = (): void => connection.destroy()
    context.signal.addEventListener('abort', hangUp, { once: true })
    try {
      context.signal.throwIfAborted()
      await connection.beginTransaction()
      // First the key: a second execution of this task waits here for the first one's commit, and then sees its row.
      const [{ affectedRows }] = await connection.execute<ResultSetHeader>(
        'INSERT IGNORE INTO payment (idempotency_key, account, amount_cents) VALUES (?, ?, ?)',
        [context.idempotencyKey, account, amountCents]
      )
      if (affectedRows === 1) await addToBalance(connection, account, amountCents)
      await connection.commit()
      context.log(affectedRows === 1 ? 'booked' : `was booked before attempt ${context.attempt}`)
      return { account, amountCents }
    } finally {
      context.signal.removeEventListener('abort', hangUp)
      // Without a commit the server rolls back.
      connection.destroy()
    }
  }
})

async function addToBalance(connection: Connection, account: string, cents: number): Promise<void> {
  const [{ affectedRows }] = await connection.execute<ResultSetHeader>(
    'UPDATE account SET balance_cents = balance_cents + ? WHERE id = ?',
    [cents, account]
  )
  // Thrown inside the transaction: the key goes too, so that a replay can book once the account exists.
  if (affectedRows === 0) throw new FinalError('ACCOUNT_UNKNOWN', `There is no account ${account}.`)
}
