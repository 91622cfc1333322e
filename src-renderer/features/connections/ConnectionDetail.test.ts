import { flushPromises } from '@vue/test-utils'
import { h } from 'vue'
import { afterEach, expect, it, vi } from 'vitest'
import { mountPage, type MountedPage } from '@/testing/mount-page.ts'
import { makeScene } from '@/testing/scenes.ts'
import ConnectionDetail from './ConnectionDetail.vue'

vi.setConfig({ testTimeout: 20_000 })
const scene = makeScene('healthy', 0)
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
