import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { unzip } from '../../src-main/app/outside/bundle/unzip.fixture.ts'
import { openConnection, openPage, patient } from './support/operator.ts'
import { openShell, shellKinds, type OpenShell } from './support/shells.ts'

const size = { width: 1280, height: 800 }

/** Width and height of a PNG. */
function pngSize(bytes: Uint8Array): [number, number] {
  const png = Buffer.from(bytes)
  expect(png.subarray(0, 8).toString('hex')).toBe('89504e470d0a1a0a')
  return [png.readUInt32BE(16), png.readUInt32BE(20)]
}

async function chooseShare(page: Page, item: string): Promise<void> {
  await page.getByRole('button', { name: 'Share' }).click()
  await page.locator('.n-dropdown-option-body', { hasText: item }).click()
}

describe.each(shellKinds)('sharing from the %s shell', (kind) => {
  let shell: OpenShell
  let page: Page
  beforeAll(async () => {
    shell = await openShell(kind, { demo: true })
    page = patient(shell.page)
    await page.setViewportSize(size)
    await openConnection(page, 'Local queue')
    await openPage(page, 'Overview')
    await page.locator('.chart canvas').first().waitFor()
    await page.locator('a.tile .value').first().waitFor()
  })
  afterAll(() => shell.stop())

  it('saves a picture of the page as it is, without the rail', async () => {
    const { name, bytes } = await shell.save(() => chooseShare(page, 'Picture of this page'))
    expect(name).toMatch(/^taskdeck-local-queue-overview-\d{8}-\d{6}\.png$/)
    const box = await page.locator('[data-picture]').boundingBox()
    const [width, height] = pngSize(bytes)
    expect(Math.abs(width - (box?.width ?? 0))).toBeLessThanOrEqual(2)
    expect(Math.abs(height - (box?.height ?? 0))).toBeLessThanOrEqual(2)
    // An empty picture of this size has 5 KB.
    expect(bytes.length).toBeGreaterThan(20_000)
    await page.getByText('The picture was handed to your downloads.').waitFor()
    expect(shell.problems).toEqual([])
  })

  it('saves an incident bundle with the picture in it', async () => {
    const { name, bytes } = await shell.save(async () => {
      await chooseShare(page, 'Incident bundle')
      const dialog = page.getByRole('dialog', { name: 'Incident bundle' })
      await dialog.getByText('Add a picture of this page').click()
      await dialog.getByRole('button', { name: 'Save the bundle' }).click()
    })
    expect(name).toMatch(/^taskdeck-local-queue-\d{8}-\d{6}\.zip$/)
    const files = unzip(bytes)
    expect([...files.keys()]).toEqual(['report.md', 'data.json', 'log.txt', 'overview.png'])
    expect(files.get('report.md')?.toString()).toContain('# Taskdeck incident bundle: Local queue')
    expect(files.get('report.md')?.toString()).toContain('### claim: ')
    const data = JSON.parse(files.get('data.json')?.toString() ?? '') as { series: { series: unknown[] } }
    expect(data).toMatchObject({ versions: { shell: kind }, connection: { name: 'Local queue' } })
    expect(data.series.series.length).toBeGreaterThan(10)
    expect(pngSize(files.get('overview.png') ?? Buffer.alloc(0))[0]).toBeGreaterThan(800)
    await page.getByRole('dialog', { name: 'Incident bundle' }).waitFor({ state: 'hidden' })
    expect(shell.problems).toEqual([])
  })
})
