import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { drawer, enqueue, navigation, openPage, startWorker } from '../support/operator.ts'
import type { Session } from '../support/session.ts'

const titles = ['First of three', 'Second of three', 'Third of three']

/** On a queue without a task: the first of three has id 1. */
export function keyboardScenario(session: () => Session): void {
  describe('the keyboard', () => {
    let page: Page
    beforeAll(async () => {
      page = session().page
      await startWorker(page)
      for (const title of titles)
        await enqueue(page, { type: 'sleep', title, payload: '{"ms":10}', delaySeconds: 3_600 })
    })

    const palette = () => page.getByRole('dialog', { name: 'commands' })
    const selected = () => page.locator('tr.is-selected')
    const drawn = (title: string) =>
      drawer(page).getByRole('heading', { level: 2 }).filter({ hasText: title }).waitFor()

    it('opens a page by its name', async () => {
      await page.keyboard.press('Control+k')
      await palette().waitFor()
      await page.keyboard.type('workers')
      await palette().getByRole('option', { name: 'Workers' }).first().waitFor()
      await page.keyboard.press('Enter')
      await page.getByRole('heading', { level: 1, name: 'Workers' }).waitFor()
      await palette().waitFor({ state: 'detached' })
    })

    it('opens a task by its id', async () => {
      await page.keyboard.press('Control+k')
      await palette().waitFor()
      await page.keyboard.type('#2')
      await palette().getByRole('option', { name: 'Open task 2' }).waitFor()
      await page.keyboard.press('Enter')
      await palette().waitFor({ state: 'detached' })
      await drawn('Second of three')
      await page.keyboard.press('Escape')
      await drawer(page).waitFor({ state: 'detached' })
    })

    it('walks through the tasks, opens and closes one', async () => {
      await openPage(page, 'Overview')
      await openPage(page, 'Tasks')
      await page.getByRole('row').filter({ hasText: 'Third of three' }).waitFor()
      await page.keyboard.press('j')
      await eventually(() => selected().innerText()).toContain('Third of three')
      await page.keyboard.press('j')
      await page.keyboard.press('j')
      await eventually(() => selected().innerText()).toContain('First of three')
      await page.keyboard.press('k')
      await eventually(() => selected().innerText()).toContain('Second of three')
      await page.keyboard.press('Enter')
      await drawn('Second of three')
      await page.keyboard.press('j')
      await drawn('First of three')
      await page.keyboard.press('Escape')
      await drawer(page).waitFor({ state: 'detached' })
    })

    it('is listed under ?, and letters go to the page only where nothing is typed', async () => {
      await page.keyboard.press('?')
      const list = page.getByRole('dialog', { name: 'shortcuts' })
      await list.getByText('Keyboard shortcuts').waitFor()
      await page.keyboard.press('Escape')
      await list.waitFor({ state: 'detached' })

      await page.getByLabel('Id, business key or start of a title').click()
      await page.keyboard.type('gj?')
      expect(await page.getByLabel('Id, business key or start of a title').inputValue()).toBe('gj?')
      await navigation(page).getByTitle('Tasks', { exact: true }).and(page.locator('.current')).waitFor()
      expect(await list.count()).toBe(0)
      expect(session().shell.problems).toEqual([])
    })
  })
}
