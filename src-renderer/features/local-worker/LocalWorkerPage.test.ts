import { flushPromises, type DOMWrapper } from '@vue/test-utils'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { dispatch } from '@/state/feed.ts'
import { demoHandlers, demoProblems } from '@/testing/demo-handlers.ts'
import { readingAt } from '@/testing/demo-queue.ts'
import { problemError } from '@/testing/fake-client.ts'
import { labelled } from '@/testing/labels.ts'
import { mountPage, type MountedPage } from '@/testing/mount-page.ts'
import { makeScene } from '@/testing/scenes.ts'
import type { LocalWorkerView } from '@contract'
import LocalWorkerPage from './LocalWorkerPage.vue'

// A whole page is mounted for each test: the first one is slow on a busy machine.
vi.setConfig({ testTimeout: 20_000 })
const now = Date.parse('2026-03-12T14:00:00Z')
const scene = makeScene('healthy', now)
const running: LocalWorkerView = {
  ...scene.localWorker,
  status: 'running',
  workerId: 'imp-03',
  running: 2,
  handlers: demoHandlers
}
let page: MountedPage
afterEach(() => page.wrapper.unmount())

async function open(view: LocalWorkerView): Promise<void> {
  page = await mountPage(LocalWorkerPage, { ...scene, localWorker: view }, '/local-worker', () => now)
  dispatch({ kind: 'localWorker', localWorker: view })
  await flushPromises()
}
const button = (text: string): DOMWrapper<Element> => page.wrapper.findAll('button').find((one) => one.text() === text)!
const calls = (path: string): unknown[] => page.app.calls.filter((call) => call.path === path).map((call) => call.input)
async function settle(): Promise<void> {
  for (const event of [await page.app.client.localWorker.get()]) dispatch({ kind: 'localWorker', localWorker: event })
  await flushPromises()
}

describe('the worker', () => {
  it('is started with what was chosen', async () => {
    await open(scene.localWorker)
    await page.wrapper.find('.path input').setValue(' /srv/handlers ')
    await button('Start the worker').trigger('click')
    await flushPromises()
    expect(calls('localWorker.start')).toEqual([
      { connectionId: 'local', slots: 4, handlersDir: '/srv/handlers', confirmation: '' }
    ])
    expect(page.wrapper.text()).toContain("running on this machine, 2 of 4 slots of this app's pool in use")
  })

  it('says why its queue and folder cannot be changed while it runs', async () => {
    await open(scene.localWorker)
    expect(page.wrapper.find('.controls').text()).not.toContain('stop the worker first')
    dispatch({ kind: 'localWorker', localWorker: running })
    await flushPromises()
    expect(page.wrapper.find('.controls').text()).toContain('stop the worker first')
  })

  it('that cannot be started says why', async () => {
    await open(scene.localWorker)
    page.app.gate = () => {
      throw problemError({ code: 'FILE_UNAVAILABLE', kind: 'user', message: '/x is not a folder', details: {} })
    }
    await button('Start the worker').trigger('click')
    await flushPromises()
    expect(page.wrapper.find('.controls [role=alert]').text()).toContain('/x is not a folder')
  })

  it('says it once, although the worker tells it of itself too', async () => {
    const problem = { code: 'FILE_UNAVAILABLE', kind: 'user' as const, message: '/x is not a folder', details: {} }
    await open({ ...scene.localWorker, problem })
    expect(page.wrapper.findAll('[role=alert]')).toHaveLength(1)
    page.app.gate = () => {
      throw problemError(problem)
    }
    await button('Start the worker').trigger('click')
    await flushPromises()
    expect(page.wrapper.findAll('[role=alert]')).toHaveLength(1)
  })

  it('lists its handlers and the files that it could not read', async () => {
    await open({ ...running, problems: demoProblems })
    expect(page.wrapper.find('.handlers').text()).toContain('invoice.issue')
    expect(page.wrapper.find('.handlers [role=alert]').text()).toContain("Cannot find module './template.ts'")
  })
})

describe('on a production queue', () => {
  it('asks for its name before it starts, and offers no sample', async () => {
    await open({ ...scene.localWorker, connectionId: 'clinic-main' })
    const production = {
      ...scene.connections.find(({ id }) => id === 'clinic-main')!,
      accessMode: 'read-write'
    } as const
    dispatch({ kind: 'connections', connections: [production] })
    await flushPromises()
    expect(page.wrapper.find('.sample').text()).toContain('never on production')
    expect(page.wrapper.find('button[aria-label="Start: Spike"]').attributes('disabled')).toBeDefined()
    await button('Start the worker').trigger('click')
    await flushPromises()
    expect(calls('localWorker.start')).toEqual([])
    const dialog = document.querySelector('[role=alertdialog]')!
    expect(dialog.textContent).toContain('take real tasks')
    const input = dialog.querySelector('input')!
    input.value = 'clinic-main'
    input.dispatchEvent(new Event('input'))
    await flushPromises()
    dialog.querySelector('form')!.dispatchEvent(new Event('submit'))
    await flushPromises()
    expect(calls('localWorker.start')).toMatchObject([{ connectionId: 'clinic-main', confirmation: 'clinic-main' }])
  })
})

describe('a sample workload', () => {
  it('starts the worker too, and stops with the same button', async () => {
    await open(scene.localWorker)
    await page.wrapper.find('button[aria-label="Start: Spike"]').trigger('click')
    await flushPromises()
    expect(calls('localWorker.start')).toHaveLength(1)
    expect(calls('localWorker.startSample')).toEqual([{ connectionId: 'local', kind: 'spike' }])
    await settle()
    await page.wrapper.find('button[aria-label="Stop: Spike"]').trigger('click')
    await flushPromises()
    expect(calls('localWorker.stopSample')).toHaveLength(1)
  })
})

describe('enqueueing', () => {
  const submitted = (): unknown[] => calls('tasks.submit')
  const send = async (): Promise<void> => {
    await page.wrapper.find('form.enqueue').trigger('submit')
    await flushPromises()
  }

  it('sends the example of the first handler as it stands', async () => {
    await open(running)
    await send()
    expect(submitted()).toEqual([
      {
        connectionId: 'local',
        count: 1,
        confirmation: '',
        requestId: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
        task: { type: 'cpu', payload: '{"ms":2000}', title: '', priority: 5, runAt: null }
      }
    ])
  })

  it('leads to the task that it made', async () => {
    await open(running)
    await send()
    const toast = [...document.querySelectorAll<HTMLAnchorElement>('.n-message a')].at(-1)
    expect(toast?.getAttribute('href')).toMatch(/^\/c\/local\/tasks\?task=\d+$/)
  })

  it('has a label for each field of the handler and of the task', async () => {
    const schema = {
      type: 'object',
      properties: {
        text: { type: 'string', description: 'What to say' },
        times: { type: 'integer' },
        loud: { type: 'boolean' },
        tone: { enum: ['low', 'high'] },
        more: { type: 'object' }
      }
    }
    const handlers = demoHandlers.slice(0, 1).map((one) => ({ ...one, payloadSchema: schema, example: '{}' }))
    await open({ ...running, handlers })
    const kinds = { text: 'INPUT', times: 'INPUT', more: 'TEXTAREA', Title: 'INPUT', 'How many': 'INPUT' }
    for (const [label, tag] of Object.entries(kinds)) expect(labelled(page.wrapper, label).tagName).toBe(tag)
    expect(labelled(page.wrapper, 'loud').getAttribute('role')).toBe('switch')
    expect(labelled(page.wrapper, 'tone').classList).toContain('n-select')
    expect(page.wrapper.find('form.enqueue input[aria-label="Task type"]').exists()).toBe(true)
  })

  it('stays with the chosen type while its file is broken', async () => {
    await open({ ...running, handlers: demoHandlers.filter((one) => one.type === 'invoice.issue') })
    dispatch({
      kind: 'localWorker',
      localWorker: { ...running, handlers: demoHandlers.filter((one) => one.type === 'cpu') }
    })
    await flushPromises()
    await send()
    expect(submitted()).toMatchObject([{ task: { type: 'invoice.issue' } }])
  })

  it('sends nothing while a JSON payload is broken, and says so', async () => {
    await open(scene.localWorker)
    await page.wrapper.find('.json textarea').setValue('{"a":')
    await send()
    expect(submitted()).toEqual([])
    expect(page.wrapper.text()).toContain('This is not valid JSON.')
  })

  it('says that a task waits only while no worker takes tasks, of whatever process', async () => {
    await open(scene.localWorker)
    expect(page.wrapper.find('form.enqueue').text()).toContain('It waits until a worker runs.')
    const reading = readingAt(scene.queues['clinic-main']!, now)
    dispatch({ kind: 'tick', tick: { connectionId: 'local', seq: 9, reading, points: [] } })
    await flushPromises()
    expect(page.wrapper.find('form.enqueue').text()).not.toContain('It waits')
    const workers = reading.workers.map((one) => ({ ...one, status: 'quiet' as const }))
    dispatch({ kind: 'tick', tick: { connectionId: 'local', seq: 10, reading: { ...reading, workers }, points: [] } })
    await flushPromises()
    expect(page.wrapper.find('form.enqueue').text()).toContain('It waits')
  })

  it('shows the refusal of the app', async () => {
    await open(running)
    page.app.gate = () => {
      throw problemError({ code: 'INVALID_PAYLOAD', kind: 'user', message: 'ms: too small', details: {} })
    }
    await send()
    expect(page.wrapper.find('form.enqueue [role=alert]').text()).toContain('ms: too small')
  })
})
