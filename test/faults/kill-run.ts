import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import mysql, { type Connection } from 'mysql2/promise'
import { isTerminal, newTask } from '../../src-main/kernel/index.ts'
import type { TestMariaDb } from '../support/mariadb.ts'
import { openTestQueue } from '../support/open-queue.ts'
import { check, type Verdict } from './checker.ts'
import { Fleet } from './fleet.ts'
import { collectEvidence, installWitness } from './witness.ts'

export interface KillRunOptions {
  readonly tasks: number
  readonly workers: number
  readonly killEveryMs: number
  /** After these the queue is left to drain, so that a slow machine comes to an end too. */
  readonly mostKills: number
  /** Freeze another worker for two leases at every second kill, so that real stale holders come back. */
  readonly freeze: boolean
  /** kill -9 and restart the database once, when a third of the tasks has ended. */
  readonly restartDatabase: boolean
  readonly leaseMs: number
  readonly deadlineMs: number
  readonly seed: number
}

export interface KillRunResult {
  readonly verdict: Verdict
  readonly tasks: number
  readonly ended: number
  readonly succeeded: number
  readonly attempts: number
  readonly effects: number
  readonly kills: number
  readonly freezes: number
  readonly databaseRestarts: number
  readonly seconds: number
  readonly log: string
}

/** The proof of issue "First light", points 3 and 4: workers and the database die while a queue is worked off. */
export async function killRun(server: TestMariaDb, options: KillRunOptions): Promise<KillRunResult> {
  const random = seededRandom(options.seed)
  const { admin: first, submitted } = await prepare(server, options.tasks, random)
  const started = performance.now()
  const log = join(mkdtempSync(join(tmpdir(), 'kill-run-')), 'workers.log')
  const fleet = new Fleet({
    admin: first,
    host: server.host,
    port: server.port,
    database,
    ledgerUrl: server.url(ledger),
    concurrency: 8,
    leaseMs: options.leaseMs,
    recoverMs: 500,
    log
  })
  await Promise.all(Array.from({ length: options.workers }, () => fleet.add()))
  const { admin, ...counts } = await torment({ server, fleet, admin: first, options, random })
  await fleet.stop(10_000)
  const evidence = await collectEvidence(admin, submitted)
  const [effects] = await admin.query(`SELECT COUNT(*) AS n FROM ${ledger}.effect`)
  admin.destroy()
  const finals = [...evidence.final.values()]
  return {
    verdict: check(evidence),
    tasks: options.tasks,
    ended: finals.filter((task) => isTerminal(task.state)).length,
    succeeded: finals.filter((task) => task.state === 'SUCCESS').length,
    attempts: evidence.attempts.length,
    effects: Number((effects as { n: number | string }[])[0]?.n),
    ...counts,
    seconds: Math.round((performance.now() - started) / 100) / 10,
    log
  }
}

const database = 'kill_run'
const ledger = 'kill_ledger'
const connect = (server: TestMariaDb): Promise<Connection> =>
  mysql.createConnection({ uri: server.url(database), supportBigNumbers: true, bigNumberStrings: true })

/** Tables, witness, ledger and all tasks. */
async function prepare(
  server: TestMariaDb,
  tasks: number,
  random: () => number
): Promise<{ admin: Connection; submitted: string[] }> {
  await server.createDatabase(database)
  await server.createDatabase(ledger)
  const queue = await openTestQueue(server.url(database))
  const admin = await connect(server)
  await installWitness(admin)
  await admin.query(
    `CREATE TABLE ${ledger}.effect (idempotency_key VARCHAR(200) CHARACTER SET ascii PRIMARY KEY, attempt INT NOT NULL, calls INT NOT NULL)`
  )
  const results = await queue.store.submit(
    Array.from({ length: tasks }, () =>
      newTask.parse({
        type: 'ledger',
        payload: JSON.stringify({ sleepMs: Math.floor(random() * 20) }),
        maxAttempts: 100,
        retryPolicy: { kind: 'list', delaysMs: [100] }
      })
    )
  )
  await queue.close()
  return { admin, submitted: results.map((result) => result.taskId) }
}

interface Torment {
  readonly server: TestMariaDb
  readonly fleet: Fleet
  readonly admin: Connection
  readonly options: KillRunOptions
  readonly random: () => number
}

/** Kills, freezes and restarts until all tasks have ended or the deadline has come. */
async function torment(
  run: Torment
): Promise<{ admin: Connection; kills: number; freezes: number; databaseRestarts: number }> {
  const { server, fleet, options, random } = run
  const counts = { kills: 0, freezes: 0, databaseRestarts: 0 }
  const failures: unknown[] = []
  let admin = run.admin
  for (const deadline = performance.now() + options.deadlineMs; performance.now() < deadline;) {
    await sleep(options.killEveryMs)
    if (failures.length > 0) throw failures[0]
    const ended = await countEnded(admin)
    if (ended >= options.tasks) break
    if (options.restartDatabase && counts.databaseRestarts === 0 && ended > options.tasks / 3) {
      await server.kill9()
      await sleep(1_000)
      await server.restart()
      counts.databaseRestarts++
      admin.destroy()
      admin = await connect(server)
      fleet.useAdmin(admin)
      continue
    }
    if (counts.kills >= options.mostKills) continue
    const victim = fleet.members[Math.floor(random() * fleet.members.length)]
    // Half of them stay: on a slow machine replacements would otherwise die as fast as they start.
    if (!victim || fleet.members.length <= options.workers / 2) continue
    await fleet.kill9(victim)
    counts.kills++
    fleet.add().catch((error: unknown) => failures.push(error))
    const frozen = fleet.members[0]
    if (options.freeze && frozen && counts.kills % 2 === 0) {
      frozen.process.kill('SIGSTOP')
      counts.freezes++
      void sleep(options.leaseMs * 2).then(() => frozen.process.kill('SIGCONT'))
    }
  }
  return { admin, ...counts }
}

async function countEnded(admin: Connection): Promise<number> {
  const [rows] = await admin.query(
    "SELECT COUNT(*) AS n FROM taskdeck_task WHERE state IN ('SUCCESS', 'PARTIAL_SUCCESS', 'FAILED', 'CANCELLED')"
  )
  return Number((rows as { n: number | string }[])[0]?.n)
}

/** mulberry32: the same choices for the same seed. */
function seededRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
}
