import type { Locator, Page } from 'playwright-core'
import type { Account } from './accounts.ts'
import { navigation, openConnection } from './operator.ts'

export type Login = Pick<Account, 'host' | 'port' | 'user' | 'password' | 'database'>
export type StepName = 'Reach the server' | 'Log in' | 'Find the database' | 'Rights' | 'Find the queue'

export interface NewConnection extends Login {
  readonly name: string
  readonly environment?: 'Development' | 'Staging' | 'Production'
}

/** Opens the form for a new connection and fills it. */
export async function fillConnection(page: Page, connection: NewConnection): Promise<void> {
  await navigation(page).getByRole('link', { name: 'New connection' }).click()
  await page.getByRole('heading', { level: 1, name: 'New connection' }).waitFor()
  await page.getByRole('radio', { name: connection.environment ?? 'Development' }).click()
  await field(page, 'name').fill(connection.name)
  await fillLogin(page, connection)
}

export async function fillLogin(page: Page, login: Login): Promise<void> {
  await field(page, 'host').fill(login.host)
  await field(page, 'port').fill(String(login.port))
  await field(page, 'database').fill(login.database)
  await field(page, 'user').fill(login.user)
  await field(page, 'password').fill(login.password)
}

export const field = (page: Page, name: string): Locator => page.locator(`input[name=${name}]`)

export const runTest = (page: Page): Promise<void> => page.getByRole('button', { name: 'Test the connection' }).click()

export const testStep = (page: Page, step: StepName): Locator => page.getByRole('listitem').filter({ hasText: step })

/** Saves what is in the form, tested or not, and is on its Overview then. */
export async function save(page: Page): Promise<void> {
  await page.getByRole('button', { name: /^Save/ }).click()
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
}

/** Reads the SQL that makes the tables, runs it, and waits for the empty queue. */
export async function migrate(page: Page): Promise<void> {
  await page.getByRole('button', { name: "Read the migration's SQL" }).click()
  await page.locator('pre').filter({ hasText: 'CREATE TABLE taskdeck_task' }).waitFor()
  await page.getByRole('button', { name: 'Run the migration' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Run the migration' }).click()
  await page.getByText('Nothing has happened in this queue yet').waitFor()
}

/** A connection with its tables, open on its Overview. */
export async function connect(page: Page, connection: NewConnection): Promise<void> {
  await fillConnection(page, connection)
  await save(page)
  await migrate(page)
}

/** Gives the password of a connection that forgot it. */
export async function unlock(page: Page, { name, user, password }: NewConnection): Promise<void> {
  await openConnection(page, name)
  await page.getByText(`${name} needs its password`).waitFor()
  await page.getByLabel(`Password of ${user}`).fill(password)
  await page.getByRole('button', { name: 'Unlock' }).click()
}
