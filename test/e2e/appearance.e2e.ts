import { rmSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newDataDir } from './support/build.ts'
import { eventually } from './support/eventually.ts'
import { navigation, openPage, patient, startWorker, type PageName } from './support/operator.ts'
import { openShell, shellKinds, type OpenShell } from './support/shells.ts'

/** The classes of what is wider than its place and can be pushed to and fro. */
const sideways = (page: Page): Promise<string[]> =>
  page.evaluate(() =>
    [...document.querySelectorAll('body, main, main *')]
      .filter((one) => ['auto', 'scroll'].includes(getComputedStyle(one).overflowX))
      .filter((one) => one.clientWidth > 0 && one.scrollWidth > one.clientWidth)
      .map((one) => one.className)
  )

describe.each(shellKinds)('theme and language in the %s shell', (kind) => {
  const dataDir = newDataDir()
  let shell: OpenShell
  let page: Page
  const open = async (): Promise<void> => {
    shell = await openShell(kind, { dataDir })
    page = patient(shell.page)
  }
  beforeAll(open)
  afterAll(async () => {
    await shell?.stop()
    rmSync(dirname(dataDir), { recursive: true, force: true })
  })

  /** 0 is black, 255 white: what the page is painted on. */
  const brightness = (): Promise<number> =>
    page.locator('main').evaluate((main) => {
      const channels = getComputedStyle(main).backgroundColor.match(/\d+(\.\d+)?/g) ?? []
      return channels.slice(0, 3).reduce((sum, channel) => sum + Number(channel) / 3, 0)
    })

  it('change at once', async () => {
    await openPage(page, 'Settings')
    await page.getByText('Light', { exact: true }).click()
    await eventually(brightness).toBeGreaterThan(200)
    await page.getByText('Dark', { exact: true }).click()
    await eventually(brightness).toBeLessThan(60)
    await page.getByText('简体中文', { exact: true }).click()
    await page.getByRole('navigation').getByTitle('任务', { exact: true }).waitFor()
    expect(shell.problems).toEqual([])
  })

  it('are the same after the next start', async () => {
    await shell.stop()
    await open()
    await page.getByRole('navigation').getByTitle('任务', { exact: true }).waitFor()
    await eventually(brightness).toBeLessThan(60)
    expect(await page.evaluate(() => document.documentElement.lang)).toBe('zh-CN')
  })

  it('go back, and no page of either theme leaves an error or a violation of its policy', async () => {
    await page.getByRole('navigation').getByTitle('设置', { exact: true }).click()
    await page.getByText('English', { exact: true }).click()
    await navigation(page).waitFor()
    await page.reload()
    for (const theme of ['Dark', 'Light']) {
      await openPage(page, 'Settings')
      await page.getByText(theme, { exact: true }).click()
      const pages: PageName[] = ['Overview', 'Tasks', 'Workers', 'Local worker', 'Connections']
      for (const name of pages) await openPage(page, name)
    }
    expect(shell.problems).toEqual([])
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
