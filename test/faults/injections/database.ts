import { setTimeout as sleep } from 'node:timers/promises'
import type { Connection } from 'mysql2/promise'
import type { World } from '../world.ts'
import type { Injection } from './injection.ts'

const downMs = 1_000

/** F3: at any moment, and in the moment in which a COMMIT has been sent. */
export const killDatabase: Injection = {
  id: 'F3',
  async inject(world) {
    const victim = await world.victim()
    if (victim && world.random.next() < 0.5) await victim.proxy.nextCommit(2_000)
    await world.outages.during(async () => {
      await world.server.kill9()
      await sleep(downMs)
      await world.server.restart()
      await world.reconnect()
    })
    return 1
  }
}

/** What a server says to a statement that it does not run; those that end a connection are the network's (F4). */
const refusals = [1205, 1213, 1020, 1290, 1792, 1836, 1040, 1203, 1461]
const refusalMs = 250
const refusedShare = 0.05

/** F10: server errors inside of transactions, rows that stay locked, and a slow link. */
export const troubleStatements: Injection = {
  id: 'F10',
  async inject(world) {
    const victim = await world.victim()
    if (victim) {
      victim.proxy.latencyMs = 40
      world.afflict(victim, 2_000, () => (victim.proxy.latencyMs = 0))
    }
    world.heal(world.outages.during(() => holdRows(world)))
    await world.outages.during(() => refuse(world))
    return refusals.length + (victim ? 2 : 1)
  }
}

async function refuse({ admin, random }: World): Promise<void> {
  for (const errno of random.shuffled(refusals)) {
    await admin.query(`INSERT INTO fault_switch (errno, chance) VALUES (${errno}, ${refusedShare})`)
    await sleep(refusalMs)
    await admin.query('DELETE FROM fault_switch')
  }
}

/** Somebody's open transaction on tasks that wait and that run. */
async function holdRows(world: World): Promise<void> {
  const connection = await world.connect()
  try {
    await connection.query('SET SESSION innodb_lock_wait_timeout = 1')
    await connection.beginTransaction()
    await connection.query(
      'SELECT id FROM taskdeck_task WHERE finished_at IS NULL ORDER BY id LIMIT 20 FOR UPDATE SKIP LOCKED'
    )
    await sleep(2_000)
    await connection.rollback()
  } catch (error) {
    // A server that is killed meanwhile has let go of them too.
    if (!isConnectionEnd(error)) throw error
  } finally {
    connection.destroy()
  }
}

const isConnectionEnd = (error: unknown): boolean =>
  error instanceof Error && ('fatal' in error || /connection/i.test(error.message))

/** F17: the server takes no changes and ends everybody's connections; later it does again, and nobody restarts anything. */
export const failOver: Injection = {
  id: 'F17',
  async inject(world) {
    await world.outages.during(async () => {
      await world.admin.query('SET GLOBAL read_only = 1')
      await killConnections(world.admin)
      await sleep(2_500)
      await world.admin.query('SET GLOBAL read_only = 0')
    })
    return 1
  }
}

async function killConnections(admin: Connection): Promise<void> {
  const [rows] = await admin.query("SELECT ID AS id FROM information_schema.PROCESSLIST WHERE USER LIKE 'w%'")
  for (const { id } of rows as { id: number }[]) await admin.query(`KILL ${id}`).catch(() => undefined)
}
