import { flushPromises } from '@vue/test-utils'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { WorkerRow } from '@contract'
import { dispatch } from '@/state/feed.ts'
import { readingAt } from '@/testing/demo-queue.ts'
import { problemError } from '@/testing/fake-client.ts'
import { mountPage, type MountedPage } from '@/testing/mount-page.ts'
import { makeScene, refused, type SceneName } from '@/testing/scenes.ts'
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

describe('asking a worker', () => {
  /** The page of a connection that may be written to, its worker imp-03 as given. */
  async function openWith(change: Partial<WorkerRow>, connectionId = 'clinic-staging'): Promise<MountedPage> {
    const scene = makeScene('healthy', now)
    const plain = readingAt(scene.queues['clinic-main']!, now)
    const workers = plain.workers.map((row) => (row.id === 'imp-03' ? { ...row, ...change } : row))
    page = await mountPage(WorkersPage, scene, `/c/${connectionId}/workers`, () => now)
    const reading = { ...plain, workers }
    dispatch({ kind: 'tick', tick: { connectionId, seq: 1, reading, points: [] } })
    await flushPromises()
    return page
  }
  const row = ({ wrapper }: MountedPage) => wrapper.findAll('tbody tr').find((one) => one.text().includes('imp-03'))!
  const items = () => [...document.querySelectorAll<HTMLElement>('[role=menuitem]')]
  async function openMenu(opened: MountedPage): Promise<string[]> {
    await row(opened).find('button[aria-haspopup=menu]').trigger('click')
    await vi.waitFor(() => expect(items()).toHaveLength(3))
    return items().map((item) => item.textContent.trim())
  }
  const pick = async (name: string): Promise<void> => {
    items()
      .find((item) => item.textContent.startsWith(name))!
      .click()
    await flushPromises()
  }
  const asked = ({ app }: MountedPage): unknown[] =>
    app.calls.filter(({ path }) => path === 'workers.request').map(({ input }) => input)
  const dialog = () => document.querySelector<HTMLElement>('[role=alertdialog][aria-modal=true]')

  it('to be quiet is one press, opens no tasks, and says where it is recorded', async () => {
    const opened = await openWith({})
    expect(await openMenu(opened)).toEqual(['Quiet', 'Wakenothing was asked of it', 'Stop'])
    await pick('Quiet')
    expect(asked(opened)).toEqual([
      {
        connectionId: 'clinic-staging',
        workerId: 'imp-03',
        request: 'QUIET',
        requestId: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
        confirmation: ''
      }
    ])
    expect(document.body.textContent).toContain('imp-03 was asked to quiet')
    expect(document.body.textContent).toContain('audit entry 318')
    expect(opened.router.currentRoute.value.name).toBe('workers')
  })

  it('shows what was asked until the worker has followed', async () => {
    expect(row(await openWith({ request: 'QUIET' })).text()).toContain('asked to quiet')
    page?.wrapper.unmount()
    const quiet = row(await openWith({ request: 'QUIET', status: 'quiet' })).text()
    expect(quiet).toContain('Quiet')
    expect(quiet).not.toContain('asked to')
    page?.wrapper.unmount()
    expect(row(await openWith({ request: 'STOP', status: 'quiet' })).text()).toContain('asked to stop')
    page?.wrapper.unmount()
    expect(row(await openWith({ request: null, status: 'quiet' })).text()).toContain('asked to wake')
  })

  it('to wake takes the request back', async () => {
    const opened = await openWith({ request: 'QUIET', status: 'quiet' })
    expect(await openMenu(opened)).toEqual(['Quietit is quiet', 'Wake', 'Stop'])
    await pick('Wake')
    expect(asked(opened)).toMatchObject([{ request: null }])
  })

  it('to be quiet is not offered while it is asked to stop, which it would weaken', async () => {
    const opened = await openWith({ request: 'STOP' })
    expect(await openMenu(opened)).toEqual(['Quietasked to stop: wake it first', 'Wake', 'Stopasked, no answer yet'])
    await pick('Quiet')
    expect(asked(opened)).toEqual([])
  })

  it('to stop asks first and says what it means', async () => {
    const opened = await openWith({})
    await openMenu(opened)
    await pick('Stop')
    expect(asked(opened)).toEqual([])
    expect(dialog()?.textContent).toContain('It does not come back by itself')
    dialog()!.querySelector<HTMLButtonElement>('button[type=submit]')!.click()
    await flushPromises()
    expect(asked(opened)).toMatchObject([{ workerId: 'imp-03', request: 'STOP' }])
    expect(dialog()).toBeNull()
  })

  it('that is refused says why, and the page stays as it was', async () => {
    const opened = await openWith({})
    opened.app.gate = (path) => {
      if (path === 'workers.request') throw problemError(refused)
    }
    await openMenu(opened)
    await pick('Quiet')
    expect(opened.wrapper.find('[role=alert]').text()).toContain('db-primary:3306 refused the connection.')
  })

  it('that nobody has heard of for a while says so, and not that the list is out of date', async () => {
    const opened = await openWith({})
    opened.app.gate = (path) => {
      const gone = { code: 'WORKER_GONE', kind: 'user', message: '', details: {} } as const
      if (path === 'workers.request') throw problemError(gone)
    }
    await openMenu(opened)
    await pick('Quiet')
    const alert = opened.wrapper.find('[role=alert]').text()
    expect(alert).toContain('This worker stopped or gives no sign of life')
    expect(alert).toContain('Nobody would see the request')
  })

  it('is not possible on a read-only connection, nor of one that has stopped, and each says why', async () => {
    const readOnly = await openWith({}, 'clinic-main')
    expect(await openMenu(readOnly)).toEqual(
      ['Quiet', 'Wake', 'Stop'].map((name) => `${name}this connection is read-only`)
    )
    await pick('Quiet')
    expect(asked(readOnly)).toEqual([])
    page?.wrapper.unmount()
    await vi.waitFor(() => expect(items()).toHaveLength(0))
    const stopped = await openWith({ status: 'stopped' })
    expect(await openMenu(stopped)).toEqual(['Quiet', 'Wake', 'Stop'].map((name) => `${name}it has stopped`))
  })

  it('on production asks for the name, for what can be taken back too', async () => {
    const opened = await openWith({}, 'clinic-main')
    dispatch({
      kind: 'connections',
      connections: makeScene('healthy', now).connections.map((one) => ({ ...one, accessMode: 'read-write' as const }))
    })
    await flushPromises()
    await openMenu(opened)
    await pick('Quiet')
    const submit = dialog()!.querySelector<HTMLButtonElement>('button[type=submit]')!
    expect(submit.disabled).toBe(true)
    const field = dialog()!.querySelector('input')!
    field.value = 'clinic-main'
    field.dispatchEvent(new Event('input'))
    await flushPromises()
    submit.click()
    await flushPromises()
    expect(asked(opened)).toMatchObject([{ request: 'QUIET', confirmation: 'clinic-main' }])
  })

  it('is reached from the keyboard: m opens the menu of the marked row, and keys are the menu’s until it closes', async () => {
    const opened = await openWith({})
    const press = async (key: string): Promise<void> => {
      const target = document.activeElement ?? document.body
      target.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }))
      await flushPromises()
    }
    const index = opened.wrapper.findAll('tbody tr').findIndex((one) => one.text().includes('imp-03'))
    for (let step = 0; step <= index; step++) await press('j')
    await press('m')
    await vi.waitFor(() => expect(document.querySelector('[role=menu][data-open=true]')).not.toBeNull())
    await press('ArrowDown')
    expect(row(opened).classes()).toContain('is-selected')
    await press('Enter')
    expect(asked(opened)).toMatchObject([{ workerId: 'imp-03', request: 'QUIET' }])
    expect(opened.router.currentRoute.value.name).toBe('workers')
    expect(document.querySelector('[role=menu][data-open=true]')).toBeNull()
  })
})
