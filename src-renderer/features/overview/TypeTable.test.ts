import { flushPromises } from '@vue/test-utils'
import { h } from 'vue'
import { limitsBy } from '@contract'
import { afterEach, expect, it, vi } from 'vitest'
import { readingAt } from '@/testing/demo-queue.ts'
import { mountPage, type MountedPage } from '@/testing/mount-page.ts'
import { makeScene } from '@/testing/scenes.ts'
import TypeTable from './TypeTable.vue'
import { typeRows } from './type-rows.ts'

vi.setConfig({ testTimeout: 20_000 })
let page: MountedPage
afterEach(() => page.wrapper.unmount())

const given = { untold: new Set<string>(), stale: false, range: '1 h', limitsOf: limitsBy(undefined) }

it('says in words that no type has tasks', async () => {
  const table = { render: () => h(TypeTable, { ...given, rows: [] }) }
  page = await mountPage(table, makeScene('quiet', 0), '/c/clinic-main/overview', () => 0)
  expect(page.wrapper.text()).toContain('No type has tasks now')
  expect(page.wrapper.text()).not.toContain('No Data')
})

it('leads from the name of a type to its page, and from the rest of its row to its tasks', async () => {
  const scene = makeScene('failing', 0)
  const opened: string[] = []
  const rows = typeRows(readingAt(scene.queues['clinic-main']!, 0), null, limitsBy(undefined))
  const table = { render: () => h(TypeTable, { ...given, rows, onOpen: (type: string) => opened.push(type) }) }
  page = await mountPage(table, scene, '/c/clinic-main/overview', () => 0)
  const row = page.wrapper.findAll('tbody tr').find((one) => one.text().includes('mail.send'))!
  await row.find('a').trigger('click')
  await flushPromises()
  expect(page.router.currentRoute.value.fullPath).toBe('/c/clinic-main/types/mail.send')
  expect(opened).toEqual([])
  await row.trigger('click')
  expect(opened).toEqual(['mail.send'])
})

it('draws a type without a name, which no address leads to', async () => {
  const scene = makeScene('failing', 0)
  const reading = readingAt(scene.queues['clinic-main']!, 0)
  const rows = typeRows(
    { ...reading, depth: [{ type: '', state: 'QUEUED', count: 3 }], flow: [], oldest: [] },
    null,
    limitsBy(undefined)
  )
  page = await mountPage({ render: () => h(TypeTable, { ...given, rows }) }, scene, '/c/clinic-main/overview', () => 0)
  const row = page.wrapper.find('tbody tr')
  expect(row.text()).toMatch(/^–3/)
  expect(row.find('a').exists()).toBe(false)
})
