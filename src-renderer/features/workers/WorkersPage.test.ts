import { flushPromises } from '@vue/test-utils'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { dispatch } from '@/state/feed.ts'
import { readingAt } from '@/testing/demo-queue.ts'
import { mountPage, type MountedPage } from '@/testing/mount-page.ts'
import { makeScene, type SceneName } from '@/testing/scenes.ts'
import WorkersPage from './WorkersPage.vue'

// A whole page is mounted for each test: the first one is slow on a busy machine.
vi.setConfig({ testTimeout: 20_000 })
const now = Date.parse('2026-03-12T14:00:00Z')
let page: MountedPage | undefined
afterEach(() => page?.wrapper.unmount())

async function open(name: SceneName, withReading = true): Promise<MountedPage> {
  const made = makeScene(name, now)
  const scene = withReading ? made : { ...made, queues: {} }
  page = await mountPage(WorkersPage, scene, '/c/clinic-main/workers', () => now)
  if (withReading) {
    const reading = readingAt(scene.queues['clinic-main']!, now)
    dispatch({ kind: 'tick', tick: { connectionId: 'clinic-main', seq: 1, reading, points: [] } })
    await flushPromises()
  }
  return page
}

describe('the workers page', () => {
  it('says that it waits before the first reading, and shows no zero', async () => {
    const { wrapper } = await open('failing', false)
    expect(wrapper.find('[aria-busy=true]').exists()).toBe(true)
    expect(wrapper.text()).not.toContain('0')
  })

  it('marks a silent worker as lost and says what becomes of its tasks', async () => {
    const { wrapper } = await open('failing')
    expect(wrapper.text()).toContain('11 / 12')
    const hot = wrapper.find('tr.is-hot')
    expect(hot.text()).toContain('Lost')
    expect(wrapper.text()).toContain("A lost worker's leases run out by themselves")
  })

  it('opens the tasks of the worker that is clicked', async () => {
    const { wrapper, router } = await open('failing')
    await wrapper.find('tr.is-hot').trigger('click')
    await flushPromises()
    expect(router.currentRoute.value.fullPath).toBe('/c/clinic-main/tasks?worker=imp-12')
  })

  it('tells how to start one when none has ever reported', async () => {
    const { wrapper } = await open('no-workers')
    expect(wrapper.text()).toContain('npm run worker -- ')
    expect(wrapper.find('a[href="/local-worker"]').exists()).toBe(true)
  })

  it('shows the last picture that history has, with its time, while the database is away', async () => {
    page = await mountPage(WorkersPage, makeScene('stale', now), '/c/clinic-main/workers', () => now)
    const { wrapper } = page
    expect(wrapper.text()).toContain('last known picture, read at 13:56:25 UTC')
    expect(wrapper.find('.workers.stale').exists()).toBe(true)
  })

  it('shows that picture below the form while the connection waits for its password', async () => {
    page = await mountPage(WorkersPage, makeScene('locked', now), '/c/clinic-main/workers', () => now)
    const { wrapper, app } = page
    expect(wrapper.find('.workers.stale').text()).toContain('imp-01')
    await wrapper.find('input[type=password]').setValue('s3cret')
    await wrapper.find('form.unlock').trigger('submit')
    await flushPromises()
    const unlocks = app.calls.filter((call) => call.path === 'connections.unlock')
    expect(unlocks.map((call) => call.input)).toEqual([{ connectionId: 'clinic-main', password: 's3cret' }])
  })

  it('asks for the password alone when there never was a picture', async () => {
    page = await mountPage(WorkersPage, makeScene('healthy', now), '/c/dev-shared/workers', () => now)
    expect(page.wrapper.text()).toContain('dev-shared needs its password')
    expect(page.wrapper.find('.workers').exists()).toBe(false)
  })
})
