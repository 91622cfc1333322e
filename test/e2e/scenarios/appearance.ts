import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { navigation, openConnection, openPage, startWorker, type PageName } from '../support/operator.ts'
import type { Session } from '../support/session.ts'

/** The classes of what is wider than its place and can be pushed to and fro. */
const sideways = (page: Page): Promise<string[]> =>
  page.evaluate(() =>
    [...document.querySelectorAll('body, main, main *')]
      .filter((one) => ['auto', 'scroll'].includes(getComputedStyle(one).overflowX))
      .filter((one) => one.clientWidth > 0 && one.scrollWidth > one.clientWidth)
      .map((one) => one.className)
  )

/** While no worker runs; the local queue has tasks. Starts the app again, as a part of it. */
export function appearanceScenario(session: () => Session): void {
  describe('theme and language', () => {
    let page: Page
    beforeAll(async () => {
      page = session().page
      await openConnection(page, 'Local queue')
    })

    /** 0 is black, 255 white: what the page is painted on. */
    const brightness = (): Promise<number> =>
      page.locator('main').evaluate((main) => {
        const channels = getComputedStyle(main).backgroundColor.match(/\d+(\.\d+)?/g) ?? []
        return channels.slice(0, 3).reduce((sum, channel) => sum + Number(channel) / 3, 0)
      })

    const savedSettings = async (): Promise<unknown> =>
      JSON.parse(await readFile(join(session().shell.dataDir, 'settings.json'), 'utf8').catch(() => 'null'))

    it('change at once', async () => {
      await openPage(page, 'Settings')
      await page.getByText('Light', { exact: true }).click()
      await eventually(brightness).toBeGreaterThan(200)
      await page.getByText('Dark', { exact: true }).click()
      await eventually(brightness).toBeLessThan(60)
      await page.getByText('简体中文', { exact: true }).click()
      await page.getByRole('navigation').getByTitle('任务', { exact: true }).waitFor()
      expect(session().shell.problems).toEqual([])
      // What is on the page is not kept yet.
      await eventually(savedSettings).toMatchObject({ theme: 'dark', language: 'zh-CN' })
    })

    it('are the same after the next start', async () => {
      await session().restart()
      page = session().page
      await page.getByRole('navigation').getByTitle('任务', { exact: true }).waitFor()
      await eventually(brightness).toBeLessThan(60)
      expect(await page.evaluate(() => document.documentElement.lang)).toBe('zh-CN')
    })

    it('go back, and no page of either theme leaves an error or a violation of its policy', async () => {
      await page.getByRole('navigation').getByTitle('设置', { exact: true }).click()
      await page.getByText('English', { exact: true }).click()
      await navigation(page).waitFor()
      await page.reload()
      await openConnection(page, 'Local queue')
      for (const theme of ['Dark', 'Light']) {
        await openPage(page, 'Settings')
        await page.getByText(theme, { exact: true }).click()
        const pages: PageName[] = ['Overview', 'Tasks', 'Workers', 'Local worker', 'Connections']
        for (const name of pages) await openPage(page, name)
      }
      expect(session().shell.problems).toEqual([])
    })

    it('leave a window of 1280 by 800 without anything that scrolls sideways', async () => {
      await page.setViewportSize({ width: 1280, height: 800 })
      await startWorker(page)
      const pages: PageName[] = ['Overview', 'Tasks', 'Workers', 'Local worker', 'Connections', 'Settings']
      for (const name of pages) {
        await openPage(page, name)
        await eventually(() => sideways(page), { message: name }).toEqual([])
      }
    })
  })
}
