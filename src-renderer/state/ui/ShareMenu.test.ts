import { flushPromises } from '@vue/test-utils'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { h, nextTick } from 'vue'
import { problemError } from '@/testing/fake-client.ts'
import { mountPage, type MountedPage } from '@/testing/mount-page.ts'
import { makeScene } from '@/testing/scenes.ts'
import ShareMenu from './ShareMenu.vue'

const start = Date.UTC(2026, 10, 30, 2, 15)
const [from, to] = [start - 3_600_000, start]
let page: MountedPage
let saved: string[]

afterEach(() => {
  page.wrapper.unmount()
  vi.restoreAllMocks()
})

async function open(): Promise<void> {
  saved = []
  vi.spyOn(HTMLAnchorElement.prototype, 'click').mockImplementation(function (this: HTMLAnchorElement) {
    saved.push(this.download)
  })
  const menu = { render: () => h('div', { 'data-picture': '' }, h(ShareMenu, { connectionId: 'local', from, to })) }
  const scene = makeScene('healthy', start)
  const connections = [{ ...scene.connections[0]!, id: 'local', name: 'Local queue!' }]
  page = await mountPage(
    menu,
    { ...scene, connections, info: { ...scene.info, shell: 'electron' } },
    '/c/local/overview',
    () => start
  )
}

const asked = (path: string): unknown[] => page.app.calls.filter((call) => call.path === path).map(({ input }) => input)
const dialog = (): HTMLElement | null => document.querySelector('[role=dialog]')

async function choose(text: string): Promise<void> {
  await page.wrapper.find('button').trigger('click')
  await vi.waitFor(() => expect(document.body.textContent).toContain(text))
  const options = [...document.querySelectorAll<HTMLElement>('.n-dropdown-option-body')]
  options.find((one) => one.textContent?.includes(text))?.click()
  await flushPromises()
}

async function save(): Promise<void> {
  dialog()
    ?.querySelector('form')
    ?.dispatchEvent(new Event('submit', { cancelable: true }))
  await nextTick()
}

async function tick(label: string): Promise<void> {
  const box = [...(dialog()?.querySelectorAll<HTMLElement>('.n-checkbox') ?? [])].find((one) =>
    one.textContent?.includes(label)
  )
  box?.click()
  await nextTick()
}

describe('the share menu', () => {
  it('saves a picture of the page, which the desktop takes', async () => {
    await open()
    await choose('Picture of this page')
    await vi.waitFor(() =>
      expect(saved).toEqual([expect.stringMatching(/^taskdeck-local-queue-overview-\d{8}-\d{6}\.png$/)])
    )
    expect(asked('outside.picture')).toEqual([{ x: 0, y: 0, width: 1, height: 1 }])
  })

  it('says what a bundle holds before it is made, and leaves names and picture out unless they are wanted', async () => {
    await open()
    await choose('Incident bundle')
    expect(asked('outside.bundle')).toEqual([])
    expect(dialog()?.textContent).toContain('2026-11-30 01:15:00 UTC to 2026-11-30 02:15:00 UTC')
    expect(dialog()?.textContent).toContain('Never in it: passwords')
    await save()
    await vi.waitFor(() => expect(saved).toEqual(['taskdeck-demo-20261130-021542.zip']))
    expect(asked('outside.bundle')).toEqual([{ connectionId: 'local', from, to, withNames: false, picture: null }])
  })

  it('adds what was ticked', async () => {
    await open()
    await choose('Incident bundle')
    await tick('Keep hosts')
    await tick('Add a picture')
    await save()
    await vi.waitFor(() => expect(saved).toHaveLength(1))
    expect(asked('outside.bundle')).toEqual([
      { connectionId: 'local', from, to, withNames: true, picture: btoa('PNG') }
    ])
  })

  it('says in the dialog why there is no bundle, and can be tried again', async () => {
    await open()
    page.app.gate = (path) => {
      if (path === 'outside.bundle')
        throw problemError({ code: 'INVALID_INPUT', kind: 'user', message: 'That is too much.', details: {} })
    }
    await choose('Incident bundle')
    await tick('Add a picture')
    await save()
    await vi.waitFor(() => expect(dialog()?.querySelector('.problem, [role=alert]')).not.toBeNull())
    expect(saved).toEqual([])
    page.app.gate = () => undefined
    await save()
    await vi.waitFor(() => expect(saved).toHaveLength(1))
  })
})
