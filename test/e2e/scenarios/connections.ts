import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { createAccount, type Account } from '../support/accounts.ts'
import {
  field,
  fillConnection,
  fillLogin,
  migrate,
  runTest,
  save,
  testStep,
  unlock,
  type StepName
} from '../support/connection-form.ts'
import {
  bar,
  drawer,
  enqueueInto,
  freshness,
  makeTask,
  openConnection,
  openPage,
  openTask,
  taskRow
} from '../support/operator.ts'
import type { Session } from '../support/session.ts'

/** While no worker runs. Starts the app again, as a part of it. */
export function connectionsScenario(session: () => Session): void {
  describe('connections', () => {
    let page: Page
    let account: Account
    let blind: Account
    beforeAll(async () => {
      account = await createAccount(inject('mariadbUrl'))
      blind = await createAccount(inject('mariadbUrl'), 'CREATE')
      page = session().page
    })
    afterAll(async () => {
      await account?.drop()
      await blind?.drop()
    })

    /** What is said, in one line, at the one step that did not work. */
    async function failsAt(step: StepName, what: string): Promise<void> {
      await runTest(page)
      await testStep(page, step).getByRole('alert').getByText(what, { exact: true }).waitFor()
      expect(await page.getByRole('listitem').getByRole('alert').count()).toBe(1)
    }

    it('start with the local queue, which has nothing to set', async () => {
      await openPage(page, 'Connections')
      await page.getByText('The queue of this machine is always there.').waitFor()
      expect(await page.getByRole('radio').count()).toBe(0)
      expect(await page.getByRole('button', { name: 'Remove the connection' }).count()).toBe(0)
    })

    it('are tested step by step, and what does not work is said at its step', async () => {
      await fillConnection(page, { ...account, name: 'orders' })
      await page.getByText('This machine has no store for secrets').waitFor()

      await field(page, 'password').fill('not the password')
      await failsAt('Log in', 'The server refused the login')
      await testStep(page, 'Find the database').getByText('not tried yet').waitFor()

      const { username, password } = new URL(inject('mariadbUrl'))
      await fillLogin(page, { ...account, user: username, password, database: 'no_such_database' })
      await failsAt('Find the database', 'The server has no database of this name')
      await testStep(page, 'Log in')
        .getByText(/^MariaDB 1\d\./)
        .waitFor()

      await fillLogin(page, { ...account, port: await closedPort() })
      await failsAt('Reach the server', 'Nothing answers at this address')

      const ssh = await listenAs('SSH-2.0-OpenSSH_9.2\r\n')
      await fillLogin(page, { ...account, port: ssh.port })
      await failsAt('Reach the server', 'What answers at this address is no MySQL or MariaDB server')
      ssh.close()

      await fillLogin(page, blind)
      await failsAt('Rights', 'The account lacks a right for this')
    })

    it('that work go on to the migration’s SQL, and are live once it has run', async () => {
      await fillConnection(page, { ...account, name: 'orders' })
      await runTest(page)
      for (const step of ['Reach the server', 'Log in', 'Find the database', 'Rights', 'Find the queue'] as const)
        await testStep(page, step).and(page.locator('.ok, .warning')).waitFor()
      await save(page)
      await page.getByText(`${account.database} has no Taskdeck tables yet`).waitFor()
      await migrate(page)
      await freshness(page).filter({ hasText: /^live/ }).waitFor()
    })

    it('to production are read-only at first, and a task’s buttons say why they are off', async () => {
      await enqueueInto(page, 'orders', 'Due in an hour')
      await fillConnection(page, { ...account, name: 'orders live', environment: 'Production' })
      await save(page)
      await bar(page).getByText('Read-only').waitFor()
      await openTask(page, 'Due in an hour')
      for (const action of ['Cancel', 'Pause', 'Retry'])
        expect(await drawer(page).getByRole('button', { name: action }).isDisabled(), action).toBe(true)
      await drawer(page).getByText('This connection is read-only').waitFor()
    })

    it('to production are written to only after their name was typed', async () => {
      await drawer(page).getByRole('link', { name: 'Connections…' }).click()
      await page.getByRole('row').filter({ hasText: 'orders live' }).click()
      await page.getByText('Read-write', { exact: true }).last().click()
      const dialog = page.getByRole('alertdialog')
      expect(await dialog.getByRole('button', { name: 'Allow writing' }).isDisabled()).toBe(true)
      await dialog.getByRole('textbox').fill('orders live')
      await dialog.getByRole('button', { name: 'Allow writing' }).click()
      await dialog.waitFor({ state: 'hidden' })
      await openConnection(page, 'orders live')
      await bar(page).getByText('Read-write').waitFor()
    })

    it('to production take a task from Tasks only with that name, too', async () => {
      await openPage(page, 'Tasks')
      await makeTask(page, 'Made on production')
      const dialog = page.getByRole('alertdialog')
      expect(await dialog.getByRole('button', { name: 'Enqueue 1 task' }).isDisabled()).toBe(true)
      await dialog.getByRole('textbox').fill('orders live')
      await dialog.getByRole('button', { name: 'Enqueue 1 task' }).click()
      await dialog.waitFor({ state: 'hidden' })
      await taskRow(page, 'Made on production').waitFor()
    })

    it('forget a password at the end of a session and ask for it after the next start', async () => {
      expect(session().shell.problems).toEqual([])
      await session().restart()
      page = session().page
      await openConnection(page, 'orders')
      await freshness(page).getByText('password needed').waitFor()
      await unlock(page, { ...account, name: 'orders', password: 'not the password' })
      await page.getByRole('alert').getByText('The server refused the login', { exact: true }).waitFor()
      await freshness(page).getByText('password needed').waitFor()
      await unlock(page, { ...account, name: 'orders' })
      await freshness(page).filter({ hasText: /^live/ }).waitFor()
      await openTask(page, 'Due in an hour')
    })

    it('whose tables a newer Taskdeck made are refused, and say which version is needed', async () => {
      await account.asAdmin(newerVersion)
      await fillConnection(page, { ...account, name: 'orders again' })
      await failsAt('Find the queue', 'The tables were made by a newer Taskdeck')
      await save(page)
      await page.getByText(`The tables in ${account.database} were made by a newer Taskdeck`).waitFor()
      await page.getByText('They are at version 99').waitFor()
      expect(await page.getByRole('button', { name: "Read the migration's SQL" }).count()).toBe(0)
    })

    it('leave no error in the console and nothing for the page’s policy to block', () => {
      expect(session().shell.problems).toEqual([])
    })
  })
}

/** As version 99 would leave its journal. */
const newerVersion = `INSERT INTO taskdeck_migration (version, step, name, hash, done, started_at)
  VALUES (99, 1, '0099_future', REPEAT('0', 64), 1, NOW(6))`

async function listenAs(greeting: string): Promise<{ port: number; close: () => void }> {
  const server = createServer((socket) => socket.on('error', () => undefined).write(greeting)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { port: (server.address() as AddressInfo).port, close: () => server.close() }
}

async function closedPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
