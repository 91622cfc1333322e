import { h } from 'vue'
import { afterEach, expect, it, vi } from 'vitest'
import { mountPage, type MountedPage } from '@/testing/mount-page.ts'
import { makeScene } from '@/testing/scenes.ts'
import TypeTable from './TypeTable.vue'
import { limitsOf } from './open-alerts.ts'

vi.setConfig({ testTimeout: 20_000 })
let page: MountedPage
afterEach(() => page.wrapper.unmount())

it('says in words that no type has tasks', async () => {
  const table = { render: () => h(TypeTable, { rows: [], stale: false, range: '1 h', limits: limitsOf(undefined) }) }
  page = await mountPage(table, makeScene('quiet', 0), '/c/clinic-main/overview', () => 0)
  expect(page.wrapper.find('.empty h2').text()).toBe('No type has tasks now')
  expect(page.wrapper.text()).not.toContain('No Data')
})
