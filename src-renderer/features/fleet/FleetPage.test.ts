import { flushPromises } from '@vue/test-utils'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { ConnectionView } from '@contract'
import { useAppStore } from '@/state/app-store.ts'
import { dispatch } from '@/state/feed.ts'
import { pointsAt, readingAt } from '@/testing/demo-queue.ts'
import { problemError } from '@/testing/fake-client.ts'
import { mountPage, type MountedPage } from '@/testing/mount-page.ts'
import { makeScene, refused, type Scene } from '@/testing/scenes.ts'
import FleetPage from './FleetPage.vue'

vi.setConfig({ testTimeout: 30_000 })
const start = 1_770_000_000_000
let page: MountedPage
let now = start

async function open(scene: Scene): Promise<MountedPage> {
  page = await mountPage(FleetPage, scene, '/fleet', () => now)
  await vi.waitFor(() => expect(page.wrapper.findAll('tbody tr').length).toBeGreaterThan(0))
  return page
}
const text = (): string => page.wrapper.text().replaceAll('\u2009', ' ')
const names = (): string[] => page.wrapper.findAll('tbody tr').map((row) => row.find('a').text())
const rowOf = (name: string) => page.wrapper.findAll('tbody tr').find((row) => row.find('a').text() === name)!
async function seconds(count: number): Promise<void> {
  vi.advanceTimersByTime(count * 1_000)
  now = Date.now()
  await flushPromises()
}
function tick(scene: Scene, id: string, seq: number): void {
  const queue = scene.queues[id]!
  dispatch({
    kind: 'tick',
    tick: { connectionId: id, seq, reading: readingAt(queue, now), points: pointsAt(queue, now) }
  })
}
async function press(key: string): Promise<void> {
  window.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }))
  await flushPromises()
}

beforeEach(() => {
  now = start
  vi.useFakeTimers({ now: start, toFake: ['Date', 'setInterval', 'clearInterval'] })
})
afterEach(() => {
  page.wrapper.unmount()
  vi.useRealTimers()
})

describe('the fleet', () => {
  it('has a row for each connection, worst first, and says on top what is worst', async () => {
    await open(makeScene('failing', start))
    expect(names()[0]).toBe('clinic-main')
    expect(names()).toHaveLength(6)
    expect(page.wrapper.find('.sentence').text()).toContain('clinic-main: import.medical is failing')
    expect(page.wrapper.find('.sentence').text()).toContain('3 of 6 are well')
    expect(rowOf('clinic-main').classes()).toContain('is-hot')
    expect(rowOf('clinic-main').text()).toContain('11 / 12')
  })

  it('says that all is well only when that is so', async () => {
    const scene = makeScene('healthy', start)
    const connections = scene.connections.filter((one) => one.link.status === 'live')
    await open({ ...scene, connections })
    expect(page.wrapper.find('.sentence').text()).toContain('All is well.')
    expect(page.wrapper.find('.sentence a').exists()).toBe(false)
  })

  it('keeps the last known numbers of a queue that cannot be reached, and says how old they are', async () => {
    await open(makeScene('stale', start))
    expect(names()[0]).toBe('clinic-main')
    const row = rowOf('clinic-main')
    expect(row.text()).toContain('Nothing answers at this address')
    expect(row.text().replaceAll('\u2009', ' ')).toContain('3 m 35 s')
    expect(row.find('.old').exists()).toBe(true)
    await seconds(30)
    expect(rowOf('clinic-main').text().replaceAll('\u2009', ' ')).toContain('4 m 05 s')
  })

  it('shows nothing as zero for a queue that was never seen', async () => {
    await open(makeScene('healthy', start))
    const row = rowOf('dev-shared')
    expect(row.text()).toContain('needs its password')
    expect(
      row
        .findAll('.num')
        .slice(1)
        .map((cell) => cell.text())
    ).not.toContain('0')
    expect(row.text()).toContain('never')
  })

  it('asks for each history once, and goes on with readings', async () => {
    const scene = makeScene('healthy', start)
    const { app } = await open(scene)
    const asked = (): string[] =>
      app.calls.flatMap(({ path, input }) =>
        path === 'overview.snapshot' ? [(input as { connectionId: string }).connectionId] : []
      )
    expect(asked().sort()).toEqual(scene.connections.map(({ id }) => id).sort())
    const before = rowOf('billing').find('.spark polyline').attributes('points')
    await seconds(80)
    tick(scene, 'billing', 2)
    await seconds(1)
    expect(rowOf('billing').find('.spark polyline').attributes('points')).not.toBe(before)
    expect(asked()).toHaveLength(scene.connections.length)
  })

  it('is drawn once a second however many readings come', async () => {
    const scene = makeScene('failing', start)
    const quiet = { ...scene, queues: { ...scene.queues, 'clinic-main': scene.queues['billing']! } }
    await open(quiet)
    expect(page.wrapper.find('.sentence').text()).not.toContain('is failing')
    tick(scene, 'clinic-main', 2)
    await flushPromises()
    expect(page.wrapper.find('.sentence').text()).not.toContain('is failing')
    await seconds(1)
    expect(page.wrapper.find('.sentence').text()).toContain('is failing')
  })

  it('opens the Overview of a row by click and by key, and its mark stays on the connection when the order changes', async () => {
    const scene = makeScene('healthy', start)
    const { router } = await open(scene)
    const [, second = ''] = names()
    await press('j')
    await press('j')
    expect(rowOf(second).classes()).toContain('is-selected')
    const lost: ConnectionView['link'] = {
      status: 'lost',
      since: start,
      nextTryAt: start,
      failures: 1,
      problem: refused
    }
    dispatch({
      kind: 'connections',
      connections: scene.connections.map((one) => (one.name === names().at(-1) ? { ...one, link: lost } : one))
    })
    await flushPromises()
    expect(names()[1]).not.toBe(second)
    expect(rowOf(second).classes()).toContain('is-selected')
    await press('Enter')
    const id = scene.connections.find((one) => one.name === second)!.id
    expect(router.currentRoute.value.fullPath).toBe(`/c/${id}/overview`)
    await rowOf('billing').trigger('click')
    await flushPromises()
    expect(router.currentRoute.value.fullPath).toBe('/c/billing/overview')
  })

  it('says what cannot be had of history, and asks again', async () => {
    const { app } = await open(makeScene('healthy', start))
    let refuses = true
    app.gate = (path) => {
      if (refuses && path === 'overview.snapshot') throw problemError(refused)
    }
    useAppStore().link = { kind: 'gone', since: start }
    await flushPromises()
    useAppStore().link = { kind: 'open' }
    await flushPromises()
    expect(page.wrapper.find('[role=alert]').text()).toContain('refused the connection')
    expect(names()).toHaveLength(6)
    refuses = false
    await page.wrapper.find('[role=alert] button').trigger('click')
    await flushPromises()
    expect(page.wrapper.find('[role=alert]').exists()).toBe(false)
  })

  it('lives with thirty connections', async () => {
    const scene = makeScene('failing', start)
    const main = scene.connections.find((one) => one.id === 'clinic-main')!
    const connections = Array.from({ length: 30 }, (_, i) => ({ ...main, id: `queue-${i}`, name: `queue-${i}` }))
    const queues = Object.fromEntries(
      connections.map(({ id }, i) => [id, scene.queues[i === 17 ? 'clinic-main' : 'billing']!])
    )
    await open({ ...scene, connections, queues })
    expect(names()[0]).toBe('queue-17')
    expect(names()).toHaveLength(30)
  })

  it('knows nothing of now while the app itself does not answer', async () => {
    await open(makeScene('failing', start))
    useAppStore().link = { kind: 'gone', since: start }
    await flushPromises()
    expect(text()).toContain('Nothing is known yet.')
    expect(rowOf('billing').text()).toContain('Taskdeck itself does not answer')
  })

  it('says that it waits before the connections are known, and what to do when there are none', async () => {
    page = await mountPage(FleetPage, { ...makeScene('healthy', start), connections: [] }, '/fleet', () => now)
    expect(page.wrapper.find('.empty').text()).toContain('There is no connection yet')
    expect(page.wrapper.find('a[href="/connections/new"]').exists()).toBe(true)
  })
})
