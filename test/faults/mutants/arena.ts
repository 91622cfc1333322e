import mysql, { type Connection } from 'mysql2/promise'
import { openMysql, parseMysqlUrl } from '../../../src-main/connections/index.ts'
import {
  newTask,
  systemClock,
  type Fence,
  type NewTaskInput,
  type SqlDatabase
} from '../../../src-main/kernel/index.ts'
import { openMysqlStore } from '../../../src-main/queue/store-mysql/index.ts'
import type { ClaimedTask, Settlement, TaskStore } from '../../../src-main/queue/task-store.ts'
import { createTestDatabase, type TestDatabase } from '../../support/mariadb.ts'
import { openTestQueue } from '../../support/open-queue.ts'
import { check, type Violation } from '../checker.ts'
import { toHistory, type HistoryLine } from '../client-history.ts'
import type { Limits } from '../evidence.ts'
import { collectEvidence, installWitness } from '../witness.ts'

export const leaseMs = 60_000

/** A store of the engine under test, logged in as the worker that uses it. */
export interface Contender {
  readonly workerId: string
  readonly store: TaskStore
  claim(limit?: number, types?: readonly string[]): Promise<ClaimedTask[]>
  /** Recorded in the client history with what it was told. */
  settle(settlement: Settlement): Promise<void>
  /** Another store of the same worker, whose statements `watch` may hold up or cut. */
  reopen(watch: Watch): Promise<TaskStore>
}

type Watch = (database: SqlDatabase) => SqlDatabase

/** One queue with its witness, on which a scenario plays a race step by step. */
export class Arena {
  readonly url: string
  readonly admin: Connection
  readonly submitted: string[] = []
  private readonly made: TestDatabase
  private readonly serverUrl: string
  private readonly databases: SqlDatabase[] = []
  private readonly accounts: string[] = []
  private readonly lines: HistoryLine[] = []

  private constructor(serverUrl: string, made: TestDatabase, admin: Connection) {
    this.serverUrl = serverUrl
    this.made = made
    this.url = made.url
    this.admin = admin
  }

  static async open(serverUrl: string): Promise<Arena> {
    const made = await createTestDatabase(serverUrl, 'mutant')
    await (await openTestQueue(made.url)).close()
    const admin = await mysql.createConnection({ uri: made.url, connectTimeout: 10_000 })
    await installWitness(admin)
    return new Arena(serverUrl, made, admin)
  }

  /** `watch` may look at, or hold up, what the store sends. */
  async contender(workerId: string, watch: Watch = (database) => database): Promise<Contender> {
    const account = `${workerId}_${this.made.name.slice(-8)}`
    await this.admin.query(`CREATE USER '${account}'@'127.0.0.1' IDENTIFIED BY 'mutant'`)
    await this.admin.query(
      `GRANT SELECT, INSERT, UPDATE, DELETE ON \`${this.made.name}\`.* TO '${account}'@'127.0.0.1'`
    )
    this.accounts.push(account)
    const store = await this.openStore(account, watch)
    return {
      workerId: account,
      store,
      claim: async (limit = 10, types = ['t']) => {
        const claimed = await claimSome(store, { workerId: account, limit, leaseMs, types })
        this.lines.push({ op: 'claim', account, fences: claimed.map(({ fence }) => [fence.taskId, fence.attempt]) })
        return claimed
      },
      settle: (settlement) => this.settle(account, store, settlement),
      reopen: (another) => this.openStore(account, another)
    }
  }

  private async openStore(account: string, watch: Watch): Promise<TaskStore> {
    const login = { ...parseMysqlUrl(this.url), user: account, password: 'mutant' }
    const waits = { acquireTimeoutMs: 20_000, connectTimeoutMs: 20_000, statementTimeoutMs: 20_000 }
    const database = await openMysql(login, { accessMode: 'read-write', poolSize: 2, ...waits, clock: systemClock })
    this.databases.push(database)
    return openMysqlStore({ database: watch(database), clock: systemClock })
  }

  private async settle(account: string, store: TaskStore, settlement: Settlement): Promise<void> {
    const { fence, outcome } = settlement
    const call = this.lines.length
    this.lines.push({ op: 'settle', account, pid: 0, call, asked: [{ fence: [fence.taskId, fence.attempt], outcome }] })
    const [result] = await store.settle([settlement])
    this.lines.push({ op: 'settled', account, pid: 0, call, states: [result?.state ?? null] })
  }

  async submit(store: TaskStore, count: number, input: Partial<NewTaskInput> = {}): Promise<string[]> {
    const tasks = Array.from({ length: count }, (_, index) =>
      newTask.parse({ type: 't', payload: '{}', title: `s${this.submitted.length + index}`, maxAttempts: 20, ...input })
    )
    const ids = (await store.submit(tasks)).map(({ taskId }) => taskId)
    this.submitted.push(...ids)
    return ids
  }

  /** As if the lease had run out by itself. */
  async expire({ taskId }: Fence): Promise<void> {
    await this.admin.query('UPDATE taskdeck_task SET lease_until = NOW(6) - INTERVAL 1 MINUTE WHERE id = ?', [taskId])
  }

  async makeDue(taskId: string): Promise<void> {
    await this.admin.query('UPDATE taskdeck_task SET run_at = NOW(6) - INTERVAL 1 MINUTE WHERE id = ?', [taskId])
  }

  /** What is not finished may stay so: a scenario plays one race, not a whole run. `clients`: what the contenders were told counts too. */
  async verdict(
    options: { limits?: Limits; clients?: boolean; operators?: readonly string[] } = {}
  ): Promise<readonly Violation[]> {
    const { limits, clients = true, operators = [] } = options
    const evidence = {
      ...(await collectEvidence(this.admin)),
      submitted: this.submitted,
      operators: [new URL(this.url).username, ...operators]
    }
    const told = clients ? { history: toHistory(this.lines) } : {}
    return check({ ...evidence, ...told, ...(limits && { limits }), leaseMs }).violations.filter(
      ({ rule }) => rule !== 'I2'
    )
  }

  /** As after `open`, without making the tables again. */
  async reset(): Promise<void> {
    await Promise.all(this.databases.splice(0).map((database) => database.close()))
    for (const account of this.accounts.splice(0))
      await this.admin.query(`DROP USER IF EXISTS '${account}'@'127.0.0.1'`)
    const [tables] = await this.admin.query(
      `SELECT table_name AS name FROM information_schema.tables
       WHERE table_schema = DATABASE() AND table_name <> 'taskdeck_migration'`
    )
    for (const { name } of tables as { name: string }[]) await this.admin.query(`DELETE FROM \`${name}\``)
    this.submitted.length = 0
    this.lines.length = 0
  }

  async close(): Promise<void> {
    await this.reset()
    await this.admin.end()
    await this.made.drop()
  }
}

/** A store may look at rows that were moved past it only now and then. */
async function claimSome(store: TaskStore, request: Parameters<TaskStore['claim']>[0]): Promise<ClaimedTask[]> {
  for (const until = performance.now() + 3_000; ;) {
    const claimed = await store.claim(request)
    if (claimed.length > 0 || performance.now() > until) return claimed
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
