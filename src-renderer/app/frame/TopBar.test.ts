import { flushPromises } from '@vue/test-utils'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { useConnectionsStore } from '@/state/connections-store.ts'
import { useLocalWorkerStore } from '@/state/local-worker-store.ts'
import { mountPage, type MountedPage } from '@/testing/mount-page.ts'
import { makeScene } from '@/testing/scenes.ts'
import TopBar from './TopBar.vue'

vi.setConfig({ testTimeout: 20_000 })
const scene = makeScene('healthy', 0)
let page: MountedPage
afterEach(() => page.wrapper.unmount())

const open = async (path: string): Promise<void> => {
  page = await mountPage(TopBar, scene, path, () => 0)
}
const bar = (): string => page.wrapper.find('header').text()

describe('the header', () => {
  it('is that of the open connection', async () => {
    await open('/c/clinic-main/tasks')
    expect(bar()).toContain('clinic-main')
    expect(bar()).toContain('Read-only')
  })

  it('is that of the queue that the local worker will work on, whatever was open before', async () => {
    await open('/local-worker')
    useConnectionsStore().currentId = 'clinic-main'
    await flushPromises()
    expect(bar()).toContain('this machine')
    expect(bar()).not.toContain('clinic-main')
    useLocalWorkerStore().chosenId = 'clinic-staging'
    await flushPromises()
    expect(bar()).toContain('clinic-staging')
  })

  it('is that of the queue that it works on while it runs', async () => {
    await open('/local-worker')
    useLocalWorkerStore().replace({ ...scene.localWorker, status: 'running', connectionId: 'billing' })
    await flushPromises()
    expect(bar()).toContain('billing')
  })
})
