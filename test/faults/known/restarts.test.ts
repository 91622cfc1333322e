import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { openMysql, parseMysqlUrl } from '../../../src-main/connections/index.ts'
import { systemClock } from '../../../src-main/kernel/index.ts'
import { openMysqlStore } from '../../../src-main/queue/store-mysql/index.ts'
import type { TaskStore } from '../../../src-main/queue/task-store.ts'
import { startPrivateMariaDb, type TestMariaDb } from '../../support/mariadb.ts'
import { readHistory } from '../client-history.ts'
import { World } from '../world.ts'

/* Section B of the list of known faults (docs/faults.md), those for which a database or processes have to end. */

let server: TestMariaDb
let world: World
beforeAll(async () => {
  server = await startPrivateMariaDb({ inMemory: true })
  world = await World.make(server, {
    workers: 0,
    concurrency: 2,
    leaseMs: 10_000,
    seed: 1,
    mix: { deaths: false, crashes: false, duplicates: false, poison: false },
    limited: false,
    mutant: null
  })
})
afterAll(async () => {
  await world.fleet.stop()
  await world.close()
  await server.stop()
})

async function openStore(): Promise<TaskStore> {
  const waits = { acquireTimeoutMs: 20_000, connectTimeoutMs: 20_000, statementTimeoutMs: 20_000 }
  const login = parseMysqlUrl(server.url('faults'))
  const database = await openMysql(login, { accessMode: 'read-write', poolSize: 1, ...waits, clock: systemClock })
  onTestFinished(() => database.close())
  return openMysqlStore({ database, clock: systemClock })
}

it('FAULTS 25: a database that is killed and comes back gives nobody a task that another one holds', async () => {
  await world.producer.submit(1)
  const [holder, other] = [await openStore(), await openStore()]
  const request = { limit: 10, leaseMs: 600_000, types: ['ledger', 'limited'] }
  const [held] = await holder.claim({ ...request, workerId: 'holder' })
  await server.kill9()
  await server.restart()
  await world.reconnect()
  expect(await other.claim({ ...request, workerId: 'other' })).toEqual([])
  expect(await other.recover(10)).toEqual([])
  const [end] = await holder.settle([{ fence: held!.fence, outcome: 'SUCCESS', result: null }])
  expect(end?.state).toBe('SUCCESS')
})

/** After the spawn (ms): before a process can hear of it, during its start, at work. */
const moments = [0, 50, 150, 300, 500, 800, 1_200, 2_000]

it('FAULTS 26: a process that is told to stop at any moment of its start ends in its grace and claims nothing more', async () => {
  await world.producer.submit(500)
  const open = await world.unfinished()
  const stopAfter = async (when: (ready: Promise<void>) => Promise<unknown>): Promise<boolean> => {
    const { member, ready } = await world.fleet.spawn()
    await when(ready)
    return (await world.fleet.terminate(member)).killed
  }
  const untilOneEnded = async (): Promise<void> => {
    while ((await world.unfinished()) === open) await sleep(20)
  }
  const killed = await Promise.all([
    ...moments.map((ms) => stopAfter(() => sleep(ms))),
    stopAfter((ready) => ready),
    stopAfter((ready) => ready.then(untilOneEnded))
  ])
  expect(killed).not.toContain(true)
  const { claims, lateClaims } = readHistory(world.fleet.histories)
  expect(claims.length).toBeGreaterThan(0)
  expect(lateClaims).toEqual([])
  expect(await world.number("SELECT COUNT(*) AS n FROM taskdeck_task WHERE state = 'RUNNING'")).toBe(0)
})
