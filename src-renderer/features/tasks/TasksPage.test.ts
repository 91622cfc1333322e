import { flushPromises } from '@vue/test-utils'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { dispatch } from '@/state/feed.ts'
import { mountPage, type MountedPage } from '@/testing/mount-page.ts'
import { problemError } from '@/testing/fake-client.ts'
import { makeScene, refused } from '@/testing/scenes.ts'
import TasksPage from './TasksPage.vue'

// A whole page is mounted for each test: the first one is slow on a busy machine.
vi.setConfig({ testTimeout: 20_000 })
const now = Date.parse('2026-03-12T14:00:00Z')
const production = { accessMode: 'read-write' as const }
let page: MountedPage | undefined
afterEach(() => page?.wrapper.unmount())

async function open(
  path: string,
  change: Parameters<MountedPage['app']['setConnection']>[1] = {}
): Promise<MountedPage> {
  const scene = makeScene('healthy', now)
  const connections = scene.connections.map((one) => (one.id === 'clinic-main' ? { ...one, ...change } : one))
  page = await mountPage(TasksPage, { ...scene, connections }, path, () => now)
  await flushPromises()
  return page
}
/** The newest task in a state; the fake app's tasks follow from time alone. */
async function idIn(state: 'RUNNING' | 'FAILED' | 'SUCCESS'): Promise<string> {
  const { app } = await open('/c/clinic-main/tasks')
  const [row] = app.tasks['clinic-main']!.list({ filter: { states: [state] }, limit: 1 }).rows
  page?.wrapper.unmount()
  return row!.id
}
const button = (text: string) => page!.wrapper.findAll('button').find((one) => one.text() === text)!
const acted = () => page!.app.calls.filter((call) => call.path === 'tasks.act').map((call) => call.input)
/** Dialogs are outside the page's own element. */
const dialog = (): HTMLElement | null => document.querySelector('[role=alertdialog]')

describe('the list', () => {
  it('asks for what the address says', async () => {
    const { app } = await open('/c/clinic-main/tasks?state=FAILED&type=mail.send&worker=imp-03&error=X&search=Y')
    const call = app.calls.find((one) => one.path === 'tasks.list')
    expect(call?.input).toMatchObject({
      filter: { states: ['FAILED'], types: ['mail.send'], workerId: 'imp-03', errorCode: 'X', search: 'Y' }
    })
  })

  it('writes a state that is switched on into the address, and can be gone back from', async () => {
    const { wrapper, router } = await open('/c/clinic-main/tasks')
    await wrapper
      .findAll('.facet')
      .find((one) => one.text().includes('Failed'))!
      .trigger('click')
    await flushPromises()
    expect(router.currentRoute.value.query).toEqual({ state: 'FAILED' })
    router.back()
    await flushPromises()
    expect(wrapper.find('.facet[aria-pressed=true]').exists()).toBe(false)
  })

  it('says that nothing fits and offers to clear the filters', async () => {
    const { wrapper, router } = await open('/c/clinic-main/tasks?search=nothing')
    expect(wrapper.text()).toContain('No task fits these filters')
    await wrapper.find('.empty button').trigger('click')
    await flushPromises()
    expect(router.currentRoute.value.query).toEqual({})
  })

  it('of a queue without tasks leads to the local worker', async () => {
    const { wrapper } = await open('/c/local/tasks')
    expect(wrapper.find('.empty a').attributes('href')).toBe('/local-worker')
  })

  it('that cannot be read says why and tries again', async () => {
    const scene = makeScene('healthy', now)
    page = await mountPage(TasksPage, scene, '/c/local/tasks', () => now)
    page.app.gate = () => {
      throw problemError(refused)
    }
    await page.router.push('/c/local/tasks?state=FAILED')
    await flushPromises()
    expect(page.wrapper.text()).toContain('Nothing answers at this address')
    page.app.gate = () => undefined
    await button('Try again').trigger('click')
    await flushPromises()
    expect(page.wrapper.text()).not.toContain('Nothing answers at this address')
  })

  it('keeps its rows, dimmed, when the database goes away', async () => {
    const { wrapper } = await open('/c/clinic-main/tasks')
    const lost = { status: 'lost' as const, since: now, nextTryAt: now, failures: 1, problem: refused }
    const connections = makeScene('healthy', now).connections.map((one) => ({ ...one, link: lost }))
    dispatch({ kind: 'connections', connections })
    await flushPromises()
    expect(wrapper.find('.tasks.stale').exists()).toBe(true)
    expect(wrapper.text()).toContain('last known rows')
  })

  it('moves with j, opens with Enter and closes with Esc', async () => {
    const { router, app } = await open('/c/clinic-main/tasks')
    const press = async (key: string): Promise<void> => {
      window.dispatchEvent(new KeyboardEvent('keydown', { key, cancelable: true }))
      await flushPromises()
    }
    const { rows } = app.tasks['clinic-main']!.list({ filter: {}, limit: 2 })
    await press('j')
    await press('j')
    await press('Enter')
    expect(router.currentRoute.value.query['task']).toBe(rows[1]!.id)
    await press('k')
    expect(router.currentRoute.value.query['task']).toBe(rows[0]!.id)
    await press('Escape')
    expect(router.currentRoute.value.query['task']).toBeUndefined()
  })
})

describe('the buttons of the open task', () => {
  it('are what the state allows; the others are disabled with the reason beside them', async () => {
    await open(`/c/clinic-main/tasks?task=${await idIn('RUNNING')}`, { ...production, environment: 'staging' })
    expect(button('Request cancel').attributes('disabled')).toBeUndefined()
    expect(button('Pause').attributes('disabled')).toBeDefined()
    expect(page!.wrapper.text()).toContain('Not possible in state Running: Pause, Retry.')
  })

  it('are all disabled on a read-only connection, which is named as the reason', async () => {
    await open(`/c/clinic-main/tasks?task=${await idIn('RUNNING')}`)
    expect(button('Request cancel').attributes('disabled')).toBeDefined()
    expect(page!.wrapper.text()).toContain('This connection is read-only')
  })

  it('act at once where nothing is lost by it, with a request id', async () => {
    const id = await idIn('FAILED')
    await open(`/c/clinic-main/tasks?task=${id}`, { ...production, environment: 'staging' })
    await button('Retry').trigger('click')
    await flushPromises()
    expect(acted()).toEqual([expect.objectContaining({ taskId: id, action: 'retry', confirmation: '' })])
    expect((acted()[0] as { requestId: string }).requestId).toMatch(/^[0-9a-f-]{36}$/)
    expect(page!.wrapper.find('.drawer').text()).toContain('Queued')
  })

  it('ask before a running task is cancelled and say what a cancel does not undo', async () => {
    await open(`/c/clinic-main/tasks?task=${await idIn('RUNNING')}`, { ...production, environment: 'staging' })
    await button('Request cancel').trigger('click')
    await flushPromises()
    expect(acted()).toEqual([])
    expect(dialog()?.textContent).toContain('External calls that it has already made may still complete')
  })

  it('want the name of a production connection typed before anything is sent', async () => {
    await open(`/c/clinic-main/tasks?task=${await idIn('FAILED')}`, production)
    await button('Retry').trigger('click')
    await flushPromises()
    const submit = dialog()!.querySelector<HTMLButtonElement>('button[type=submit]')!
    expect(submit.disabled).toBe(true)
    const input = dialog()!.querySelector('input')!
    input.value = 'clinic-main'
    input.dispatchEvent(new Event('input'))
    await flushPromises()
    dialog()!
      .querySelector('form')!
      .dispatchEvent(new Event('submit', { cancelable: true }))
    await flushPromises()
    expect(acted()).toEqual([expect.objectContaining({ action: 'retry', confirmation: 'clinic-main' })])
  })

  it('show a refusal plainly and read the task again', async () => {
    const id = await idIn('FAILED')
    const { app, wrapper } = await open(`/c/clinic-main/tasks?task=${id}`, { ...production, environment: 'staging' })
    app.tasks['clinic-main']!.act(id, 'retry', now)
    await button('Retry').trigger('click')
    await flushPromises()
    expect(wrapper.find('.refusal').text()).toContain("The task's state does not allow this any more")
    expect(wrapper.find('.drawer .state').text()).toBe('Queued')
  })
})
