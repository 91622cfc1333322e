import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { profileText, thesisTable } from '../../support/foreign-table.ts'
import { createAccount, type Account } from '../support/accounts.ts'
import { fillConnection, runTest, save, testStep } from '../support/connection-form.ts'
import { bar, freshness, openConnection, openPage } from '../support/operator.ts'
import type { Session } from '../support/session.ts'

/** A table of another application, from the form to each page. Leaves the local queue open. */
export function foreignTableScenario(session: () => Session): void {
  describe('a table of another application', () => {
    let page: Page
    /** May read the table, and nothing else. */
    let account: Account
    beforeAll(async () => {
      account = await createAccount(inject('mariadbUrl'), '')
      await account.asAdmin(thesisTable)
      await account.asAdmin(`GRANT SELECT ON thesis_run_task TO '${account.user}'@'%'`)
      await account.asAdmin(
        `INSERT INTO thesis_run_task (task_type, status, created_at, finished_at) VALUES
          ('review', 'PENDING', UTC_TIMESTAMP(), NULL), ('review', 'PENDING', UTC_TIMESTAMP(), NULL),
          ('plagiarism', 'RUNNING', UTC_TIMESTAMP(), NULL), ('plagiarism', 'SUCCESS', UTC_TIMESTAMP(), UTC_TIMESTAMP())`
      )
      page = session().page
    })
    afterAll(() => account?.drop())

    const profile = (): Locator => page.getByLabel('Profile (JSON)')
    const tile = (name: string): Locator => page.locator('.tile', { hasText: name })

    it('is described by a profile, and what is wrong with it is said at its field', async () => {
      await fillConnection(page, { ...account, name: 'theses' })
      await page.getByRole('radiogroup', { name: 'Tables' }).getByText("Another application's").click()
      await page.getByText('Taskdeck reads it and changes nothing in it.').waitFor()
      await profile().fill(profileText('thesis-run-task').replace('"id": "id"', '"id": "task_id"'))
      await runTest(page)
      await testStep(page, 'Find the queue').getByText('"task_id" is not in the table').waitFor()
      await profile().fill('{ "format": 1 }')
      await page.getByRole('button', { name: /^Save/ }).click()
      await page.locator('.n-form-item-feedback', { hasText: 'states: ' }).waitFor()

      await page.getByRole('group', { name: 'Start from' }).click()
      await page.locator('.n-base-select-option', { hasText: 'thesis_run_task' }).click()
      expect(await profile().inputValue()).toBe(profileText('thesis-run-task'))
      await runTest(page)
      for (const step of ['Reach the server', 'Log in', 'Find the database', 'Rights', 'Find the queue'] as const)
        await testStep(page, step).and(page.locator('.ok, .warning')).waitFor()
      await testStep(page, 'Find the queue').getByText('the profile fits thesis_run_task').waitFor()
    })

    it('has its figures on the Overview, and says of the others why they are not known', async () => {
      await save(page)
      await freshness(page).filter({ hasText: /^live/ }).waitFor()
      await bar(page).getByText('Read-only').waitFor()
      await tile('Depth').getByText('3', { exact: true }).waitFor()
      await tile('Workers alive').getByText('not known: the table has no workers').waitFor()
      expect(await page.locator('.charts .panel').count()).toBe(4)
      await page.locator('tr', { hasText: 'review' }).click()
      await page.getByRole('heading', { level: 1, name: 'review' }).waitFor()
      await tile('Depth').getByText('2', { exact: true }).waitFor()
      await page.getByText('Which errors there were and who ran it is not known').waitFor()
      expect(await page.getByRole('link', { name: 'Its tasks' }).count()).toBe(0)
    })

    it('says on pages of tasks and workers that there is nothing to list, and why', async () => {
      await openPage(page, 'Tasks')
      await page.getByText('The tasks of thesis_run_task cannot be listed here').waitFor()
      expect(await page.getByRole('button', { name: 'New task' }).count()).toBe(0)
      await openPage(page, 'Workers')
      await page.getByText('The workers of thesis_run_task are not known').waitFor()
      await openPage(page, 'Capacity')
      await page.getByText('The capacity of thesis_run_task cannot be told').waitFor()
      await page.getByRole('link', { name: 'Open the Overview' }).click()
      await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
      await openPage(page, 'Database')
      await page.getByText('Tables and indexes').waitFor()
      await page.getByText('thesis_run_task', { exact: true }).first().waitFor()
      expect(await page.getByText('Plan of the claim').count()).toBe(0)
      expect(await page.getByRole('alert').count()).toBe(0)
    })

    it('is no place for the local worker, and the local queue is as before', async () => {
      await openPage(page, 'Local worker')
      await page.locator('label', { hasText: 'Works on' }).locator('.n-select').click()
      await page.locator('.n-base-select-option', { hasText: "another application's table" }).waitFor()
      await page.keyboard.press('Escape')
      await openConnection(page, 'Local queue')
      await openPage(page, 'Tasks')
      await page.getByRole('button', { name: 'New task' }).waitFor()
      expect(session().shell.problems).toEqual([])
    })
  })
}
