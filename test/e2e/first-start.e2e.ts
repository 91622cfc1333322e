import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually } from './support/eventually.ts'
import { freshness, navigation, openPage, patient, tile, tileNumber } from './support/operator.ts'
import { openShell, shellKinds, type OpenShell } from './support/shells.ts'

describe.each(shellKinds)('the first start in the %s shell', (kind) => {
  let shell: OpenShell
  beforeAll(async () => {
    shell = await openShell(kind)
    patient(shell.page)
  })
  afterAll(() => shell?.stop())

  it('asks nothing: the local queue is there, live and empty', async () => {
    const { page } = shell
    await navigation(page).getByRole('link', { name: 'Local queue' }).waitFor()
    await freshness(page).filter({ hasText: /^live/ }).waitFor()
    await page.getByText('Nothing has happened in this queue yet').waitFor()
    expect(await page.getByRole('alertdialog').count()).toBe(0)
  })

  it('leads to a moving queue with one click', async () => {
    const { page } = shell
    await page.getByRole('button', { name: 'Start with a sample' }).click()
    await eventually(() => tileNumber(page, 'Workers alive')).toBe(1)
    await tile(page, 'Workers alive').getByText('all send heartbeats').waitFor()

    await page.getByRole('heading', { name: 'Throughput' }).waitFor()
    const seen = new Set<number | null>()
    await eventually(async () => seen.add(await tileNumber(page, 'Depth')).size).toBeGreaterThanOrEqual(3)
    await page.getByRole('row').filter({ hasText: 'sleep' }).first().waitFor()
  })

  it('shows the worker and its tasks on the other pages too', async () => {
    const { page } = shell
    await openPage(page, 'Workers')
    await page
      .getByRole('row')
      .filter({ hasText: /Healthy|Saturated/ })
      .waitFor()
    await openPage(page, 'Tasks')
    await page.getByRole('row').filter({ hasText: 'Sample: sleeps' }).first().waitFor()
    await openPage(page, 'Local worker')
    await page.getByRole('button', { name: 'Stop: Spike' }).click()
    await page.getByRole('button', { name: 'Start: Spike' }).waitFor()
  })

  it('leaves no error in the console and nothing for the page’s policy to block', () => {
    expect(shell.problems).toEqual([])
  })
})
