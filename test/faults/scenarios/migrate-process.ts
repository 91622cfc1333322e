import { join } from 'node:path'
import { openMysql, parseMysqlUrl } from '../../../src-main/connections/index.ts'
import { systemClock, type SqlDatabase } from '../../../src-main/kernel/index.ts'
import { mysqlSchema } from '../../../src-main/queue/store-mysql/index.ts'

/*
 * Makes the tables of the database in argv[2] and is killed right before statement number argv[3] (from 0), or, with `after` as argv[4],
 * while that statement is on its way. Prints the number of statements when it gets to the end.
 */

const [, , url = '', dieAt = '-1', when = 'before'] = process.argv
const database = await openMysql(parseMysqlUrl(url), {
  accessMode: 'read-write',
  poolSize: 2,
  acquireTimeoutMs: 20_000,
  connectTimeoutMs: 20_000,
  statementTimeoutMs: 60_000,
  clock: systemClock
})
let calls = 0
const execute: SqlDatabase['execute'] = (sql, values) => {
  if (calls++ !== Number(dieAt)) return database.execute(sql, values)
  if (when === 'before') process.kill(process.pid, 'SIGKILL')
  const answer = database.execute(sql, values)
  setImmediate(() => process.kill(process.pid, 'SIGKILL'))
  return answer
}
const mortal: SqlDatabase = {
  flavour: database.flavour,
  serverVersion: database.serverVersion,
  execute,
  transaction: (work, options) => database.transaction(work, options),
  close: () => database.close()
}
const migrationsDir = join(import.meta.dirname, '../../../migrations/mysql')
await mysqlSchema({ database: mortal, clock: systemClock, migrationsDir }).migrate()
await database.close()
process.stdout.write(String(calls))
