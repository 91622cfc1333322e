import { flushPromises } from '@vue/test-utils'
import { h } from 'vue'
import { afterEach, expect, it, vi } from 'vitest'
import { withForeignTable } from '@/testing/foreign.ts'
import { mountPage, type MountedPage } from '@/testing/mount-page.ts'
import { makeScene } from '@/testing/scenes.ts'
import ConnectionDetail from './ConnectionDetail.vue'

vi.setConfig({ testTimeout: 20_000 })
const scene = withForeignTable(makeScene('healthy', 0), 'billing')
let page: MountedPage
afterEach(() => {
  page.wrapper.unmount()
  vi.restoreAllMocks()
})

const open = async (id: string): Promise<void> => {
  const connection = scene.connections.find((one) => one.id === id)!
  page = await mountPage({ render: () => h(ConnectionDetail, { connection }) }, scene, '/connections', () => 0)
}

it('shows where the file of the local queue is, to copy', async () => {
  const copied = vi.spyOn(navigator.clipboard, 'writeText').mockResolvedValue()
  await open('local')
  expect(page.wrapper.find('.path').text()).toBe(scene.info.localQueueFile)
  await page.wrapper.find('.file button').trigger('click')
  await flushPromises()
  expect(copied).toHaveBeenCalledWith(scene.info.localQueueFile)
})

it('shows no file for a server', async () => {
  await open('clinic-main')
  expect(page.wrapper.find('.path').exists()).toBe(false)
})

it('names the profile and the table of another application, and offers no writing', async () => {
  await open('billing')
  expect(page.wrapper.find('dl').text()).toContain('shop.mail_jobs · Mail queue')
  expect(page.wrapper.find('.access').text()).toContain('Taskdeck reads it and changes nothing in it.')
  expect(page.wrapper.findAll('input[type=radio]')).toEqual([])
  page.wrapper.unmount()
  await open('clinic-main')
  expect(page.wrapper.find('dl').text()).toContain("Taskdeck's own")
  expect(page.wrapper.findAll('input[type=radio]')).toHaveLength(2)
})
