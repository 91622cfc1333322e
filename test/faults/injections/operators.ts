import { openMysql, parseMysqlUrl } from '../../../src-main/connections/index.ts'
import { systemClock } from '../../../src-main/kernel/index.ts'
import { openMysqlStore } from '../../../src-main/queue/store-mysql/index.ts'
import type { World } from '../world.ts'
import type { Injection } from './injection.ts'

/**
 * F11: two operators press Retry on the same dead tasks at once, and are schedulers beside the workers. What poison killed dies again; nothing
 * else may come of it.
 */
export const pressRetryTwice: Injection = {
  id: 'F11',
  async inject(world) {
    const [rows] = await world.admin.query(
      "SELECT id FROM taskdeck_task WHERE state = 'FAILED' ORDER BY id DESC LIMIT 5"
    )
    const ids = (rows as { id: number | string }[]).map(({ id }) => String(id))
    await Promise.all([press(world, ids), press(world, ids)])
    return ids.length
  }
}

async function press(world: World, ids: readonly string[]): Promise<void> {
  const options = { accessMode: 'read-write', poolSize: 1, acquireTimeoutMs: 5_000, connectTimeoutMs: 5_000 } as const
  const login = parseMysqlUrl(world.server.url('faults'))
  const database = await openMysql(login, { ...options, statementTimeoutMs: 8_000, clock: systemClock })
  try {
    const store = await openMysqlStore({ database, clock: systemClock, claims: false })
    for (const id of ids) await store.act(id, 'retry', 'ada')
    await store.runSchedules()
  } finally {
    await database.close()
  }
}
