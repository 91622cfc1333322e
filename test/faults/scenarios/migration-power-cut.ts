import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import mysql from 'mysql2/promise'
import { openMysql, parseMysqlUrl } from '../../../src-main/connections/index.ts'
import { systemClock } from '../../../src-main/kernel/index.ts'
import { mysqlSchema, openMysqlStore } from '../../../src-main/queue/store-mysql/index.ts'
import type { TestMariaDb } from '../../support/mariadb.ts'
import { seededRandom } from '../seeded-random.ts'

const migrationsDir = join(import.meta.dirname, '../../../migrations/mysql')

export interface PowerCuts {
  readonly injected: number
  readonly problems: readonly string[]
}

/**
 * F13: the migrating process is killed between and inside of statements, and the server under it. Afterwards a store either refuses the
 * half-made tables or finds them whole, and the next run goes on and makes exactly what an undisturbed run makes.
 */
export async function cutMigrations(
  server: TestMariaDb,
  options: { readonly cuts: number; readonly databaseCuts: number; readonly seed: number }
): Promise<PowerCuts> {
  const random = seededRandom(options.seed)
  const whole = await migrateOnce(server, 'whole', -1, 'before')
  const statements = Number(whole.output)
  const wanted = await schemaOf(server, 'whole')
  const problems: string[] = []
  // All of them when there is room for all, otherwise spread over the whole run.
  const points = Array.from({ length: Math.min(options.cuts, statements) }, (_, index) =>
    Math.floor((index * statements) / Math.min(options.cuts, statements))
  )
  for (const [index, point] of points.entries()) {
    const name = `cut_${index}`
    await migrateOnce(server, name, point, index % 2 === 0 ? 'before' : 'after')
    problems.push(...(await goOn(server, name, wanted, `killed at statement ${point}`)))
  }
  for (let index = 0; index < options.databaseCuts; index++) {
    const name = `crash_${index}`
    const process = start(await server.createDatabase(name), -1, 'before')
    await sleep(300 + random.below(1_200))
    await server.kill9()
    await process.ended
    await server.restart()
    problems.push(...(await goOn(server, name, wanted, 'database killed')))
  }
  return { injected: points.length + options.databaseCuts, problems }
}

interface Run {
  /** What it printed; empty when it was killed. */
  readonly output: string
}

async function migrateOnce(server: TestMariaDb, name: string, dieAt: number, when: 'before' | 'after'): Promise<Run> {
  return start(await server.createDatabase(name), dieAt, when).ended
}

function start(url: string, dieAt: number, when: 'before' | 'after'): { ended: Promise<Run> } {
  const file = join(import.meta.dirname, 'migrate-process.ts')
  const child = spawn(process.execPath, [file, url, String(dieAt), when], { stdio: ['ignore', 'pipe', 'ignore'] })
  let output = ''
  child.stdout.on('data', (data: Buffer) => (output += data.toString()))
  return { ended: once(child, 'close').then(() => ({ output })) }
}

async function goOn(server: TestMariaDb, name: string, wanted: string, what: string): Promise<string[]> {
  const problems: string[] = []
  const options = { accessMode: 'read-write', poolSize: 2, acquireTimeoutMs: 20_000, connectTimeoutMs: 20_000 } as const
  const login = parseMysqlUrl(server.url(name))
  const database = await openMysql(login, { ...options, statementTimeoutMs: 60_000, clock: systemClock })
  try {
    const schema = mysqlSchema({ database, clock: systemClock, migrationsDir })
    const { status } = await schema.status()
    const opens = await openMysqlStore({ database, clock: systemClock }).then(
      () => true,
      () => false
    )
    // The task table alone lets a store open; the worker asks for the status first, as every opener does.
    if (status === 'ready' && !opens) problems.push(`F13 ${what}: says ready and cannot be opened`)
    await schema.migrate()
    if ((await schemaOf(server, name)) !== wanted) problems.push(`F13 ${what}: the tables differ after going on`)
    await (await openMysqlStore({ database, clock: systemClock })).close()
  } catch (error) {
    problems.push(`F13 ${what}: ${String(error)}`)
  } finally {
    await database.close()
  }
  return problems
}

/** All tables as the server describes them, and the journal without its times. */
async function schemaOf(server: TestMariaDb, name: string): Promise<string> {
  const connection = await mysql.createConnection({ uri: server.url(name), connectTimeout: 20_000 })
  try {
    const [tables] = await connection.query(
      'SELECT table_name AS name FROM information_schema.tables WHERE table_schema = DATABASE() ORDER BY 1'
    )
    const texts: string[] = []
    for (const { name: table } of tables as { name: string }[]) {
      const [rows] = await connection.query(`SHOW CREATE TABLE \`${table}\``)
      texts.push(String((rows as Record<string, unknown>[])[0]?.['Create Table']).replace(/ AUTO_INCREMENT=\d+/, ''))
    }
    return texts.join('\n')
  } finally {
    await connection.end()
  }
}
