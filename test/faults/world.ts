import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import mysql, { type Connection } from 'mysql2/promise'
import type { ScheduleInput } from '../../src-main/kernel/index.ts'
import type { TestMariaDb } from '../support/mariadb.ts'
import { openTestQueue } from '../support/open-queue.ts'
import { Fleet, type FleetMember } from './fleet.ts'
import type { Limits } from './evidence.ts'
import { Outages } from './outages.ts'
import { limitedType, Producer, type Mix } from './producer.ts'
import { boundedType, QuotaPressure } from './quota-pressure.ts'
import { seededRandom, type SeededRandom } from './seeded-random.ts'
import { installWitness } from './witness.ts'

export interface WorldOptions {
  readonly workers: number
  /** Tasks at once in each of them. */
  readonly concurrency: number
  readonly leaseMs: number
  readonly seed: number
  readonly mix: Mix
  /** Whether the queue, types and owners are limited as `limitsFor` says: the fleet then waits for room most of the time. */
  readonly limited: boolean
  readonly mutant: string | null
}

/** How often the workers look for expired leases. */
const sweepMs = 500
/** What a busy machine may take for what takes no time. */
const busyMs = 10_000
const graceMs = 5_000
/** So few that the fleet is at them most of the time: the queue has room for two thirds of its slots. */
const limitsFor = ({ workers, concurrency }: WorldOptions): Limits => ({
  queue: Math.max(2, Math.floor((workers * concurrency * 2) / 3)),
  types: { [limitedType]: 2 },
  owners: { o1: 3 },
  rates: { [boundedType]: { count: 2, periodMs: 1_000 } },
  unfinished: { [boundedType]: 4 }
})

/**
 * A lost attempt is recovered at most so long after its lease, outages not counted: two sweeps, and the two leases for which a process that is
 * frozen or silent in the middle of a transaction keeps its rows locked.
 */
export const recoveryWithinMs = (leaseMs: number): number => 2 * sweepMs + 2 * leaseMs + busyMs

/** F11: every worker is a scheduler too. */
export const tick = 'tick'
const everySecond: ScheduleInput = {
  name: 'every-second',
  cron: '* * * * * *',
  task: { type: tick, title: tick, payload: '{}', maxAttempts: 1_000, retryPolicy: { kind: 'list', delaysMs: [100] } }
}
const victimDeadlineMs = 60_000
const database = 'faults'
const ledger = 'ledger'

/** A queue with its witness, a producer and a fleet, which the injections torment. */
export class World {
  readonly options: WorldOptions
  readonly server: TestMariaDb
  readonly random: SeededRandom
  readonly folder = mkdtempSync(join(tmpdir(), 'taskdeck-faults-'))
  readonly problems: string[] = []
  readonly outages = new Outages()
  readonly limits: Limits
  fleet!: Fleet
  producer!: Producer
  quotaPressure!: QuotaPressure
  private connection!: Connection
  private readonly afflicted = new Set<FleetMember>()
  private readonly healing = new Set<Promise<unknown>>()

  private constructor(server: TestMariaDb, options: WorldOptions) {
    this.server = server
    this.options = options
    this.random = seededRandom(options.seed)
    this.limits = options.limited ? limitsFor(options) : {}
  }

  static async make(server: TestMariaDb, options: WorldOptions): Promise<World> {
    const world = new World(server, options)
    await world.prepare()
    return world
  }

  private async prepare(): Promise<void> {
    const { server, options } = this
    const url = await server.createDatabase(database)
    const ledgerUrl = await server.createDatabase(ledger)
    await this.setPolicies(url)
    await this.reconnect()
    await installWitness(this.connection)
    await this.connection.query(
      `CREATE TABLE ${ledger}.effect (idempotency_key VARCHAR(200) CHARACTER SET ascii PRIMARY KEY,
        title VARCHAR(200) NOT NULL, attempt INT NOT NULL, calls INT NOT NULL)`
    )
    this.fleet = new Fleet({
      admin: () => this.connection,
      server: { host: server.host, port: server.port },
      database,
      ledgerUrl,
      concurrency: options.concurrency,
      leaseMs: options.leaseMs,
      recoverMs: sweepMs,
      graceMs,
      folder: this.folder,
      onChange: () => this.noticeFleet(),
      mutant: options.mutant
    })
    this.producer = await Producer.open(url, this.random, options.mix)
    this.quotaPressure = await QuotaPressure.open(url)
  }

  private async setPolicies(url: string): Promise<void> {
    const queue = await openTestQueue(url)
    const { queue: maxRunning, types, owners, rates, unfinished } = this.limits
    if (maxRunning !== undefined) await queue.store.setPolicy({ scope: 'QUEUE', name: '', maxRunning })
    for (const name of Object.keys({ ...types, ...rates, ...unfinished })) {
      const limits = { maxRunning: types?.[name], rate: rates?.[name], maxUnfinished: unfinished?.[name] }
      await queue.store.setPolicy({ scope: 'TYPE', name, ...limits })
    }
    for (const [name, limit] of Object.entries(owners ?? {}))
      await queue.store.setPolicy({ scope: 'OWNER', name, maxRunning: limit })
    if (this.options.mix.duplicates) await queue.store.putSchedule(everySecond)
    await queue.close()
  }

  /** Before everything has to come to an end. */
  async stopSchedule(): Promise<void> {
    await this.connection.query('DELETE FROM taskdeck_schedule')
  }

  /** The administrator's session; it does not go through any proxy. */
  get admin(): Connection {
    return this.connection
  }

  async connect(): Promise<Connection> {
    const { server } = this
    const address = { host: server.host, port: server.port, user: server.user, password: server.password }
    const connection = await mysql.createConnection({ ...address, database, connectTimeout: 10_000 })
    connection.on('error', () => undefined) // a kill of the server is part of the run
    return connection
  }

  /** After the server was killed. */
  async reconnect(): Promise<void> {
    this.connection?.destroy()
    this.connection = await this.connect()
  }

  async number(sql: string): Promise<number> {
    const [rows] = await this.connection.query(sql)
    return Number((rows as { n: number | string }[])[0]?.n)
  }

  /** Not ended yet. */
  unfinished(): Promise<number> {
    return this.number('SELECT COUNT(*) AS n FROM taskdeck_task WHERE finished_at IS NULL')
  }

  effects(): Promise<{ title: string; calls: number }[]> {
    return this.connection
      .query(`SELECT title, calls FROM ${ledger}.effect`)
      .then(([rows]) => rows as { title: string; calls: number }[])
  }

  /**
   * A live process that nothing else is being done to. Waits until a third of the fleet, and another one at least, is well: on a slow
   * machine processes would otherwise die as fast as they start, and nothing would ever be worked on. Those that their tasks kill meanwhile
   * are replaced, or it could wait for nobody. Undefined when that takes too long.
   */
  async victim(): Promise<FleetMember | undefined> {
    for (const until = performance.now() + victimDeadlineMs; performance.now() < until; await sleep(100)) {
      const well = this.fleet.members.filter((member) => !this.afflicted.has(member))
      if (well.length > Math.max(1, this.options.workers / 3)) return this.random.pick(well)
      this.heal(this.fleet.refill(this.options.workers))
    }
    return undefined
  }

  /** Keeps other faults off the process until `ms` have passed and `cure` has run. */
  afflict(member: FleetMember, ms: number, cure: () => void): void {
    this.afflicted.add(member)
    this.noticeFleet()
    const over = sleep(ms).then(() => {
      cure()
      this.afflicted.delete(member)
      this.noticeFleet()
    })
    this.heal(over)
  }

  private noticeFleet(): void {
    this.outages.set(this.fleet, !this.fleet.members.some((member) => !this.afflicted.has(member)))
  }

  /** Goes on in the background: faults may overlap. Its failure is the run's. */
  heal(work: Promise<unknown>): void {
    const watched = work.catch((error: unknown) => void this.problems.push(String(error)))
    this.healing.add(watched)
    void watched.finally(() => this.healing.delete(watched))
  }

  async healed(): Promise<void> {
    while (this.healing.size > 0) await Promise.all(this.healing)
  }

  async close(): Promise<void> {
    await this.producer.close()
    await this.quotaPressure.close()
    this.connection.destroy()
  }
}
