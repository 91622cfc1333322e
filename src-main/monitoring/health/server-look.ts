import {
  AppError,
  type Clock,
  type DeadlockParty,
  type HealthPart,
  type LastDeadlock,
  type ServerCounters,
  type ServerHealth,
  type SqlDatabase,
  type TransactionsPicture
} from '../../kernel/index.ts'
import type { TablePlace } from '../../schema-profiles/index.ts'
import { readDeadlock, type ReportedDeadlock } from './deadlock.ts'
import { grantFor, readPart } from './gap.ts'
import {
  mostTransactions,
  readTasks,
  readTransactions,
  readWaits,
  unknownTask,
  type SeenTransaction,
  type TieFacts
} from './lock-probes.ts'
import { readPlan, type PlannedStatement } from './plans.ts'
import {
  readAccounts,
  readCounters,
  readIndexes,
  readInnodbStatus,
  readMetrics,
  readReplicas,
  readTables,
  readVariables,
  readWhoAndWhere,
  type WhoAndWhere
} from './server-probes.ts'
import { judgeSettings } from './settings.ts'
import { tieOf, type WorkerPlace } from './worker-ties.ts'

/** How old a part may be: what moves is asked each time, what is dear or never changes seldom. */
const ages = { deadlock: 15_000, replicas: 10_000, seldom: 60_000 } as const

export interface ServerLookOptions {
  /** One connection that only reads, with a short limit for each statement. Stays the caller's. */
  readonly database: SqlDatabase
  readonly clock: Clock
  /** The engine's statements, for values that fit the queue as it is now. */
  readonly statements: () => readonly PlannedStatement[]
  readonly workers: () => readonly WorkerPlace[]
  /** The table whose size is told, where it is not ours; nothing is looked up in it. null: our own tables. */
  readonly table: TablePlace | null
}

type Kept = Pick<ServerHealth, 'settings' | 'deadlock' | 'plans' | 'tables' | 'indexes' | 'replicas'>

/**
 * Looks at one server again and again, one statement after another. A part that cannot be read says why and leaves the others alone; a
 * right that is missing is asked for again as seldom as the part itself, at most once a minute. `look` throws what ends the connection.
 */
export class ServerLook {
  private readonly options: ServerLookOptions
  private readonly database: CountingDatabase
  private readonly kept: { [Name in keyof Kept]?: { readonly at: number; readonly value: Kept[Name] } } = {}
  private who: WhoAndWhere | undefined
  /** PROCESS was missing; until then nothing that needs it is asked. */
  private deniedUntil = Number.NEGATIVE_INFINITY
  private denied: HealthPart<never> | undefined

  constructor(options: ServerLookOptions) {
    this.options = options
    this.database = new CountingDatabase(options.database)
  }

  /** Aborted, the statement under way ends on the server, and no other one begins. */
  async look(signal?: AbortSignal): Promise<ServerHealth> {
    const { clock } = this.options
    const began = clock.monotonic()
    this.database.begin(signal)
    const who = (this.who ??= await readWhoAndWhere(this.database))
    const status = await this.part(() => readCounters(this.database))
    const locks = await this.locks(who)
    const transactions = await this.transactions(locks, status)
    const tables = await this.seldom('tables', ages.seldom, () =>
      this.part(() => readTables(this.database, this.options.table))
    )
    return {
      kind: 'mysql',
      at: clock.now(),
      flavour: this.database.flavour,
      version: this.database.serverVersion,
      counters: mapPart(status, ({ counters }) => ({
        ...counters,
        deadlocks: counters.deadlocks ?? transactions.deadlocks
      })),
      settings: await this.seldom('settings', ages.seldom, () => this.settings(status, tables)),
      accounts: await this.part(() => readAccounts(this.database)),
      waits: await this.waits(locks, who),
      transactions: transactions.part,
      deadlock: await this.seldom('deadlock', ages.deadlock, () => this.deadlock(who)),
      plans: await this.seldom('plans', ages.seldom, () => this.plans()),
      tables,
      indexes: await this.seldom('indexes', ages.seldom, () =>
        this.part(
          () => readIndexes(this.database, this.options.table),
          this.grant('SELECT', 'mysql.innodb_index_stats')
        )
      ),
      replicas: await this.seldom('replicas', this.replicasAge(), () => this.replicas()),
      statements: this.database.statements,
      costMs: clock.monotonic() - began
    }
  }

  private part<T>(work: () => Promise<T>, remedy: string | null = null): Promise<HealthPart<T>> {
    return readPart(work, () => this.options.clock.now(), remedy)
  }

  /** What was read less than `maxAgeMs` ago, else a new one. */
  private async seldom<Name extends keyof Kept>(
    name: Name,
    maxAgeMs: number,
    read: () => Promise<Kept[Name]>
  ): Promise<Kept[Name]> {
    const now = this.options.clock.monotonic()
    const known = this.kept[name]
    if (known && now - known.at < maxAgeMs) return known.value
    const value = await read()
    Object.assign(this.kept, { [name]: { at: now, value } })
    return value
  }

  private grant(privilege: string, on = '*.*'): string {
    return grantFor(privilege, on, this.who?.account ?? null)
  }

  /** All that needs PROCESS: refused once, it is not asked again for a minute. */
  private async withProcess<T>(work: () => Promise<T>): Promise<HealthPart<T>> {
    const now = this.options.clock.monotonic()
    if (this.denied && now < this.deniedUntil) return this.denied
    const part = await this.part(work, this.grant('PROCESS'))
    if (part.status === 'unknown' && part.gap.reason === 'rights') {
      this.denied = part
      this.deniedUntil = now + ages.seldom
    }
    return part
  }

  private locks(who: WhoAndWhere): Promise<HealthPart<SeenTransaction[]>> {
    return this.withProcess(() => readTransactions(this.database, this.facts(who)))
  }

  private facts({ host }: WhoAndWhere): TieFacts {
    return { workers: this.options.workers(), serverHost: host, findsTasks: this.options.table === null }
  }

  private async waits(locks: HealthPart<SeenTransaction[]>, who: WhoAndWhere): Promise<ServerHealth['waits']> {
    if (locks.status === 'unknown') return locks
    return this.part(
      () => readWaits(this.database, locks.value, this.facts(who)),
      this.grant('SELECT', 'performance_schema.*')
    )
  }

  private async transactions(
    locks: HealthPart<SeenTransaction[]>,
    status: HealthPart<{ counters: ServerCounters; unpurged: number | null }>
  ): Promise<{ part: HealthPart<TransactionsPicture>; deadlocks: number | null }> {
    if (locks.status === 'unknown') return { part: locks, deadlocks: null }
    const known = status.status === 'known' ? status.value.unpurged : null
    const metrics = known === null ? await this.withProcess(() => readMetrics(this.database)) : null
    const more = metrics?.status === 'known' ? metrics.value : { unpurged: known, deadlocks: null }
    const open = locks.value
      .map(({ transaction }) => transaction)
      // Of the same age, those that wait come after those that they may wait for.
      .sort((a, b) => b.ageMs - a.ageMs || Number(a.waiting) - Number(b.waiting))
      .slice(0, mostTransactions)
    const value = { open, more: locks.value.length > mostTransactions, unpurged: more.unpurged }
    return { part: { ...locks, value }, deadlocks: more.deadlocks }
  }

  private settings(
    status: HealthPart<{ counters: ServerCounters }>,
    tables: ServerHealth['tables']
  ): Promise<ServerHealth['settings']> {
    const peakSessions = status.status === 'known' ? status.value.counters.peakSessions : null
    const queueBytes =
      tables.status === 'known' ? tables.value.reduce((sum, one) => sum + one.dataBytes + one.indexBytes, 0) : null
    return this.part(async () => judgeSettings(await readVariables(this.database), { peakSessions, queueBytes }))
  }

  private deadlock(who: WhoAndWhere): Promise<HealthPart<LastDeadlock | null>> {
    return this.withProcess(async () => {
      const reported = readDeadlock(await readInnodbStatus(this.database))
      return reported && this.tiedDeadlock(reported, who)
    })
  }

  private async tiedDeadlock({ agoMs, parties }: ReportedDeadlock, who: WhoAndWhere): Promise<LastDeadlock> {
    const ids = this.options.table ? [] : parties.flatMap(({ taskId }) => taskId ?? [])
    const tasks = await readTasks(this.database, ids)
    const toParty = ({ taskId, user, ...party }: ReportedDeadlock['parties'][number]): DeadlockParty => {
      const task = taskId === null || !ids.includes(taskId) ? null : (tasks.get(taskId) ?? unknownTask(taskId))
      // The row has moved on since: its lease of now says nothing of then.
      const tie = tieOf({ host: party.host, serverHost: who.host, leaseHolder: null }, this.options.workers())
      return { ...party, account: user, task, ...tie }
    }
    return { agoMs, parties: parties.map(toParty) }
  }

  private async plans(): Promise<ServerHealth['plans']> {
    const plans: ServerHealth['plans'] = []
    for (const statement of this.options.statements()) plans.push(await readPlan(this.database, statement))
    return plans
  }

  private replicas(): Promise<ServerHealth['replicas']> {
    const privilege = this.database.flavour === 'mariadb' ? 'REPLICA MONITOR' : 'REPLICATION CLIENT'
    return this.part(() => readReplicas(this.database), this.grant(privilege))
  }

  /** A server that follows nobody, or that does not tell, is asked seldom. */
  private replicasAge(): number {
    const known = this.kept.replicas?.value
    return known?.status === 'known' && known.value.length > 0 ? ages.replicas : ages.seldom
  }
}

function mapPart<A, B>(part: HealthPart<A>, change: (value: A) => B): HealthPart<B> {
  return part.status === 'known' ? { ...part, value: change(part.value) } : part
}

/** Says how many statements a look took, and ends with it. */
class CountingDatabase implements Pick<SqlDatabase, 'execute' | 'flavour' | 'serverVersion'> {
  statements = 0
  readonly flavour: SqlDatabase['flavour']
  readonly serverVersion: string
  private readonly database: SqlDatabase
  private signal: AbortSignal | undefined

  constructor(database: SqlDatabase) {
    this.database = database
    this.flavour = database.flavour
    this.serverVersion = database.serverVersion
  }

  /** A new look. */
  begin(signal: AbortSignal | undefined): void {
    this.statements = 0
    this.signal = signal
  }

  execute: SqlDatabase['execute'] = async (sql, values) => {
    const { signal } = this
    if (signal?.aborted) throw new AppError('CONNECTION_LOST', 'operational', 'Nobody looks at the database any more.')
    this.statements += 1
    return this.database.execute(sql, values, { signal })
  }
}
