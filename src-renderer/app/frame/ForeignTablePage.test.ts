import { h } from 'vue'
import { afterEach, expect, it, vi } from 'vitest'
import { withForeignTable } from '@/testing/foreign.ts'
import { mountPage, type MountedPage } from '@/testing/mount-page.ts'
import { makeScene } from '@/testing/scenes.ts'
import ForeignTablePage from './ForeignTablePage.vue'

vi.setConfig({ testTimeout: 20_000 })
let page: MountedPage
afterEach(() => page.wrapper.unmount())

it.each([
  ['tasks', 'The tasks of shop.mail_jobs cannot be listed here'],
  ['workers', 'The workers of shop.mail_jobs are not known'],
  ['capacity', 'The capacity of shop.mail_jobs cannot be told']
] as const)(
  'says on the page %s what is not known of the table, asks for nothing, and leads on',
  async (name, title) => {
    const scene = withForeignTable(makeScene('healthy', 0), 'clinic-main')
    const connection = scene.connections.find(({ id }) => id === 'clinic-main')!
    const path = `/c/clinic-main/${name}`
    page = await mountPage({ render: () => h(ForeignTablePage, { page: name, connection }) }, scene, path, () => 0)
    expect(page.wrapper.find('h2').text()).toBe(title)
    expect(page.wrapper.findAll('a').map((link) => link.attributes('href'))).toEqual(['/c/clinic-main/overview'])
    expect(page.wrapper.findAll('.empty button')).toEqual([])
    expect(page.app.calls.filter(({ path: called }) => /^(tasks|workers|localWorker)/.test(called))).toEqual([])
  }
)
