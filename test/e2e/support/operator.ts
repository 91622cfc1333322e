import type { Locator, Page } from 'playwright-core'

/*
 * What an operator does in a page, in the page's own words. Each waits for what the press leads to, so that a spec reads as
 * steps; the deadline is the page's (`patient`).
 */

/** Two cores under two browsers and a database are slow; a page that does not answer in this time is broken. */
const patienceMs = 40_000

/** Sets the deadline of everything that the page is waited for. */
export function patient(page: Page): Page {
  page.setDefaultTimeout(patienceMs)
  return page
}

export type PageName =
  | 'Overview'
  | 'Tasks'
  | 'Workers'
  | 'Alerts'
  | 'Database'
  | 'Capacity'
  | 'Fleet'
  | 'Local worker'
  | 'Connections'
  | 'Settings'

export const navigation = (page: Page): Locator => page.getByRole('navigation', { name: 'Navigation' })

/** On top, in the environment's colour. */
export const bar = (page: Page): Locator => page.locator('header.bar')

/** Over the rail, as everybody does. */
export async function openPage(page: Page, name: PageName): Promise<void> {
  await navigation(page).getByTitle(name, { exact: true }).click()
  await page.getByRole('heading', { level: 1, name, exact: true }).waitFor()
}

export async function openConnection(page: Page, name: string): Promise<void> {
  await navigation(page).locator(`a[title^="${name} · "]`).click()
  await bar(page).getByText(name, { exact: true }).waitFor()
}

/** What the bar says about how old the picture is. */
export const freshness = (page: Page): Locator => bar(page).getByRole('status')

/** One of the Overview's four numbers: everything that stands on its tile. */
export const tile = (page: Page, label: string): Locator => page.locator('a.tile', { hasText: label })

/** The number of a tile; null while it shows none. */
export async function tileNumber(page: Page, label: string): Promise<number | null> {
  const text = await tile(page, label).locator('.value').innerText()
  const digits = /^[\d,]+/.exec(text)?.[0]
  return digits === undefined ? null : Number(digits.replaceAll(',', ''))
}

/** From the Local worker page; leaves it open. */
export async function startWorker(page: Page, handlersDir = ''): Promise<void> {
  await openPage(page, 'Local worker')
  if (handlersDir) await page.getByLabel('Folder with your own handlers').fill(handlersDir)
  await page.getByRole('button', { name: 'Start the worker' }).click()
  await page
    .getByRole('status')
    .filter({ hasText: /^running on/ })
    .waitFor()
}

export interface EnqueuedTask {
  readonly type: string
  /** Unique in a spec: tasks are found again by it. */
  readonly title: string
  /** JSON text; the handler's example when it is left out. */
  readonly payload?: string
  readonly delaySeconds?: number
}

export const enqueueForm = (page: Page): Locator => page.locator('form.enqueue')

export const titleField = (page: Page): Locator => enqueueForm(page).getByLabel('Title', { exact: true })

export async function chooseType(page: Page, type: string): Promise<void> {
  const select = enqueueForm(page).locator('.type')
  await select.click()
  await page.locator('.n-base-select-option', { hasText: new RegExp(`^${type}$`) }).click()
  await select.filter({ hasText: type }).waitFor()
}

/** Fills the form and sends it; the page says that it was enqueued. */
export async function enqueue(page: Page, task: EnqueuedTask): Promise<void> {
  await pressEnqueue(page, task)
  await saysEnqueued(page)
}

/** What it said of a task before may not be gone yet. */
export const saysEnqueued = (page: Page): Promise<void> =>
  page
    .getByText(/1 task enqueued, id \d+\./)
    .last()
    .waitFor()

/** Without waiting for what comes of it. */
export async function pressEnqueue(page: Page, task: EnqueuedTask): Promise<void> {
  await openPage(page, 'Local worker')
  await chooseType(page, task.type)
  const form = enqueueForm(page)
  if (task.payload !== undefined) {
    await form.getByText('JSON', { exact: true }).click()
    await form.getByLabel('Payload, JSON').fill(task.payload)
  }
  await titleField(page).fill(task.title)
  await form.getByLabel('Start in, seconds').fill(String(task.delaySeconds ?? 0))
  await form.getByRole('button', { name: 'Enqueue 1 task' }).click()
}

/** A task for another connection than the local queue, due in an hour. No worker runs, so its type is typed. */
export async function enqueueInto(page: Page, connection: string, title: string): Promise<void> {
  await openPage(page, 'Local worker')
  await page.locator('label', { hasText: 'Works on' }).locator('.n-select').click()
  await page.locator('.n-base-select-option', { hasText: connection }).click()
  const form = enqueueForm(page)
  await form.getByText(`into ${connection}`).waitFor()
  await form.locator('.type').click()
  await page.keyboard.type('sleep')
  await page.keyboard.press('Enter')
  await form.getByLabel('Payload, JSON').fill('{"ms":10}')
  await titleField(page).fill(title)
  await form.getByLabel('Start in, seconds').fill('3600')
  await form.getByRole('button', { name: 'Enqueue 1 task' }).click()
  await saysEnqueued(page)
}

/** From the Tasks page of the shown connection, of a type that no handler here describes; leaves the form open. */
export async function makeTask(page: Page, title: string): Promise<void> {
  await page.getByRole('heading', { level: 1, name: 'Tasks' }).waitFor()
  await page.keyboard.press('n')
  const form = page.getByRole('complementary', { name: 'A new task' })
  await form.locator('.type').click()
  await page.keyboard.type('mail.send')
  await page.keyboard.press('Enter')
  await form.getByLabel('Payload, JSON').fill('{"to":"a"}')
  await form.getByLabel('Title', { exact: true }).fill(title)
  await form.getByLabel('Start in, seconds').fill('3600')
  await form.getByRole('button', { name: 'Enqueue 1 task' }).click()
}

export const taskRow = (page: Page, title: string): Locator => page.locator('tr', { hasText: title })

export const drawer = (page: Page): Locator => page.getByRole('complementary', { name: 'The open task' })

/** Found in the list by its title and opened with a click. */
export async function openTask(page: Page, title: string): Promise<Locator> {
  await openPage(page, 'Tasks')
  await taskRow(page, title).first().click()
  await drawer(page).getByRole('heading', { level: 2 }).filter({ hasText: title }).waitFor()
  return drawer(page)
}

/** The state in the open drawer's header. */
export const drawnState = (page: Page): Locator => drawer(page).locator('header .state')

export const seesState = (page: Page, state: string): Promise<void> =>
  drawnState(page)
    .filter({ hasText: new RegExp(`^${state}$`) })
    .waitFor()

export async function press(page: Page, action: string): Promise<void> {
  await drawer(page).getByRole('button', { name: action, exact: true }).click()
}

/** Presses an action that asks first, and agrees. */
export async function pressAndConfirm(page: Page, action: string): Promise<void> {
  await press(page, action)
  await page.getByRole('alertdialog').getByRole('button', { name: action, exact: true }).click()
}

/** The only worker's, on the Workers page. */
const workerLine = (page: Page): Locator => page.locator('.workers tbody tr')

/** Over the menu of the only worker's row. A stop asks first. */
export async function askWorker(page: Page, asking: 'Quiet' | 'Wake' | 'Stop'): Promise<void> {
  await workerLine(page).getByRole('button', { name: /^Ask / }).click()
  await page.getByRole('menuitem', { name: asking, exact: true }).click()
}

/** It follows a request with a heartbeat, so this may take ten seconds. */
export const workerSays = (page: Page, text: RegExp): Promise<void> =>
  workerLine(page).filter({ hasText: text }).waitFor()
