import { randomBytes } from 'node:crypto'
import mysql from 'mysql2/promise'
import { createTestDatabase } from '../../support/mariadb.ts'

/** An account of the test server and an empty database, as an operator would be given them. */
export interface Account {
  readonly host: string
  readonly port: number
  readonly user: string
  readonly password: string
  readonly database: string
  /** Runs one statement in the database with all rights, for what an operator cannot do. */
  asAdmin(statement: string): Promise<void>
  drop(): Promise<void>
}

/** An account with exactly these rights on a database of its own; `''` for none at all. */
export async function createAccount(serverUrl: string, rights = 'ALL'): Promise<Account> {
  const database = await createTestDatabase(serverUrl, 'taskdeck_e2e')
  const { hostname, port } = new URL(serverUrl)
  const user = `e2e_${randomBytes(4).toString('hex')}`
  const password = randomBytes(9).toString('base64url')
  await run(serverUrl, `CREATE USER '${user}'@'%' IDENTIFIED BY '${password}'`)
  if (rights) await run(serverUrl, `GRANT ${rights} ON \`${database.name}\`.* TO '${user}'@'%'`)
  return {
    ...{ host: hostname, port: Number(port), user, password, database: database.name },
    asAdmin: (statement) => run(database.url, statement),
    async drop() {
      await run(serverUrl, `DROP USER '${user}'@'%'`)
      await database.drop()
    }
  }
}

async function run(url: string, statement: string): Promise<void> {
  const connection = await mysql.createConnection({ uri: url, connectTimeout: 10_000 })
  try {
    await connection.query(statement)
  } finally {
    await connection.end()
  }
}
