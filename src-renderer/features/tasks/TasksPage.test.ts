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

  it('shows the last numbers below the form while the connection waits for its password', async () => {
    const { wrapper } = await open('/c/clinic-main/tasks', { link: { status: 'locked', problem: null } })
    expect(wrapper.find('form.unlock').exists()).toBe(true)
    expect(wrapper.find('.facet').exists()).toBe(true)
    expect(wrapper.text()).toContain('The rows come when it is unlocked')
  })

  it('keeps its rows below that form when the password is lost on the way', async () => {
    const { wrapper } = await open('/c/clinic-main/tasks')
    const locked = { status: 'locked' as const, problem: null }
    const connections = makeScene('healthy', now).connections.map((one) => ({ ...one, link: locked }))
    dispatch({ kind: 'connections', connections })
    await flushPromises()
    expect(wrapper.find('form.unlock').exists()).toBe(true)
    expect(wrapper.find('.tasks.stale').exists()).toBe(true)
  })

  it('says in its toolbar that there is more, where no toast covers it', async () => {
    const { wrapper, app } = await open('/c/clinic-main/tasks')
    await app.client.tasks.submit({ connectionId: 'clinic-main', task: { type: 'mail.send', payload: '{}' } })
    dispatch({ kind: 'tasksChanged', connectionId: 'clinic-main', ids: [] })
    await flushPromises()
    expect(wrapper.find('.toolbar [role=status]').text()).toContain('1 new in this list')
    await wrapper.find('.toolbar [role=status] button').trigger('click')
    await flushPromises()
    expect(wrapper.find('.toolbar [role=status]').exists()).toBe(false)
  })

  it('says of a task in Retry wait when it runs again', async () => {
    vi.useFakeTimers({ now, toFake: ['Date'] })
    await open('/c/clinic-main/tasks?state=RETRY_WAIT')
    const { rows } = page!.app.tasks['clinic-main']!.list({ filter: { states: ['RETRY_WAIT'] }, limit: 1 })
    vi.setSystemTime(rows[0]!.runAt - 12_000)
    await page!.router.push(`/c/clinic-main/tasks?state=RETRY_WAIT&task=${rows[0]!.id}`)
    await flushPromises()
    vi.useRealTimers()
    expect(page!.wrapper.find('.drawer header').text()).toMatch(/runs again in 12\s?s/)
    expect(page!.wrapper.find('.drawer header [title*="UTC"]').exists()).toBe(true)
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

describe('a new task', () => {
  const writable = { accessMode: 'read-write' as const, environment: 'staging' as const }
  const submitted = (): unknown[] =>
    page!.app.calls.filter((call) => call.path === 'tasks.submit').map((call) => call.input)
  const press = async (key: string): Promise<void> => {
    window.dispatchEvent(new KeyboardEvent('keydown', { key, cancelable: true }))
    await flushPromises()
  }
  const send = async (): Promise<void> => {
    await page!.wrapper.find('form.enqueue').trigger('submit')
    await flushPromises()
  }

  it('is made for the shown connection with n, of the type that the list is filtered by, and is in the list then', async () => {
    const { wrapper, router } = await open('/c/clinic-main/tasks?type=mail.send', writable)
    await press('n')
    expect(router.currentRoute.value.query['new']).toBe('1')
    await wrapper.find('.json textarea').setValue('{"to":"a"}')
    await send()
    expect(submitted()).toMatchObject([
      { connectionId: 'clinic-main', count: 1, confirmation: '', task: { type: 'mail.send', payload: '{"to":"a"}' } }
    ])
    expect(page!.app.calls.filter((call) => call.path === 'tasks.list').length).toBeGreaterThan(1)
    await press('Escape')
    expect(wrapper.find('form.enqueue').exists()).toBe(false)
  })

  it('is left with Esc, which first closes an open list of choices', async () => {
    const { wrapper } = await open('/c/clinic-main/tasks?new=1', writable)
    const esc = async (): Promise<void> => {
      const event = new KeyboardEvent('keydown', { key: 'Escape', bubbles: true, cancelable: true })
      wrapper.find('form.enqueue .json textarea').element.dispatchEvent(event)
      await flushPromises()
    }
    const choice = wrapper.find('form.enqueue .type .n-base-selection')
    await choice.trigger('click')
    await flushPromises()
    expect(choice.classes()).toContain('n-base-selection--active')
    await choice.find('input').trigger('keydown', { key: 'Escape' })
    await flushPromises()
    expect(wrapper.find('form.enqueue').exists()).toBe(true)
    expect(choice.classes()).not.toContain('n-base-selection--active')
    await esc()
    expect(wrapper.find('form.enqueue').exists()).toBe(false)
  })

  it('proposes no type for a queue that the handlers here do not serve', async () => {
    await open('/c/clinic-main/tasks?new=1', writable)
    expect(page!.wrapper.find('.new').text()).toContain('Choose a type')
    await send()
    expect(submitted()).toEqual([])
  })

  it('is not made over a read-only connection, and the button says why', async () => {
    const { wrapper, router } = await open('/c/clinic-main/tasks')
    await press('n')
    expect(router.currentRoute.value.query['new']).toBeUndefined()
    expect(button('New task').attributes('disabled')).toBeDefined()
    expect(wrapper.find('.toolbar [title="read-only connection"]').exists()).toBe(true)
  })

  it('wants the name of a production connection typed first', async () => {
    await open('/c/clinic-main/tasks?type=mail.send&new=1', production)
    await send()
    expect(submitted()).toEqual([])
    const input = dialog()!.querySelector('input')!
    input.value = 'clinic-main'
    input.dispatchEvent(new Event('input'))
    await flushPromises()
    dialog()!
      .querySelector('form')!
      .dispatchEvent(new Event('submit', { cancelable: true }))
    await flushPromises()
    expect(submitted()).toMatchObject([{ confirmation: 'clinic-main', task: { type: 'mail.send' } }])
  })

  it('that is refused says so beside the form', async () => {
    const { app, wrapper } = await open('/c/clinic-main/tasks?type=mail.send&new=1', writable)
    app.gate = (path) => {
      if (path === 'tasks.submit') throw problemError({ code: 'READ_ONLY', kind: 'user', message: 'no', details: {} })
    }
    await send()
    expect(wrapper.find('form.enqueue [role=alert]').text()).toContain('This connection is read-only')
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
