import { rmSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startPrivateMariaDb, type TestMariaDb } from '../support/mariadb.ts'
import { newDataDir } from './support/build.ts'
import { connect, unlock, type NewConnection } from './support/connection-form.ts'
import { eventually } from './support/eventually.ts'
import { freshness, openConnection, openPage, patient, tile, tileNumber } from './support/operator.ts'
import { openShell, type OpenShell } from './support/shells.ts'

/** A try may meet a server that accepts and does not answer yet: 10 s for it, and 30 s to the next one. */
const backMs = { timeout: 80_000 }

let mariadb: TestMariaDb
beforeAll(async () => {
  mariadb = await startPrivateMariaDb()
})
afterAll(() => mariadb?.stop())

// What notices it and what says it, app and page, are the same in both shells.
describe('a database that goes away', { timeout: 180_000 }, () => {
  const dataDir = newDataDir()
  let connection: NewConnection
  let shell: OpenShell
  let page: Page
  beforeAll(async () => {
    const { host, port, user, password } = mariadb
    const database = 'e2e'
    await mariadb.createDatabase(database)
    connection = { name: 'orders', host, port, user, password, database }
    await open()
    await connect(page, connection)
  })
  afterAll(async () => {
    await shell?.stop()
    rmSync(dirname(dataDir), { recursive: true, force: true })
  })

  async function open(): Promise<void> {
    shell = await openShell('server', { dataDir })
    page = patient(shell.page)
  }
  const reloads = (): Promise<unknown> => page.evaluate(() => Reflect.get(window, 'sameDocument'))

  it('is watched while its queue moves', async () => {
    await page.getByRole('button', { name: 'Start with a sample' }).click()
    await eventually(() => tileNumber(page, 'Workers alive')).toBe(1)
    await eventually(() => tileNumber(page, 'Depth')).toBeGreaterThan(0)
  })

  it('is said with the time, and the last picture stays', async () => {
    await page.evaluate(() => Reflect.set(window, 'sameDocument', true))
    await mariadb.kill9()
    await freshness(page)
      .getByText(/^offline since \d\d:\d\d:\d\d, showing the last known$/)
      .waitFor()
    await page.getByText(/^Last known picture, .* old\.$/).waitFor()
    await tile(page, 'Depth')
      .getByText(/^as of \d\d:\d\d:\d\d$/)
      .waitFor()
    expect(await tileNumber(page, 'Depth')).not.toBeNull()
    expect(await tileNumber(page, 'Workers alive')).toBe(1)
    await openPage(page, 'Workers')
    await page.getByText(/^last known picture, read at \d\d:\d\d:\d\d UTC$/).waitFor()
    await openPage(page, 'Overview')
  })

  it('is live again by itself when it is back, and its worker goes on', async () => {
    await mariadb.restart()
    await eventually(() => freshness(page).innerText(), backMs).toMatch(/^live/)
    const seen = new Set<number | null>()
    await eventually(async () => seen.add(await tileNumber(page, 'Depth')).size).toBeGreaterThanOrEqual(2)
    await eventually(() => tileNumber(page, 'Workers alive')).toBe(1)
    expect(await reloads()).toBe(true)
    expect(shell.problems).toEqual([])
  })

  it('has its last picture on screen after the next start, before it answers', async () => {
    await shell.stop()
    await mariadb.kill9()
    await open()
    await openConnection(page, 'orders')
    await page.getByText('orders needs its password').waitFor()
    await unlock(page, connection)
    await freshness(page)
      .getByText(/^offline since \d\d:\d\d:\d\d, showing the last known$/)
      .waitFor()
    await page.getByText(/^Last known picture, .* old\.$/).waitFor()
    expect(await tileNumber(page, 'Depth')).not.toBeNull()
    await mariadb.restart()
    await eventually(() => freshness(page).innerText(), backMs).toMatch(/^live/)
    expect(shell.problems).toEqual([])
  })
})
