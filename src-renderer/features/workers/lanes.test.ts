import { flushPromises } from '@vue/test-utils'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { dispatch } from '@/state/feed.ts'
import { readingAt } from '@/testing/demo-queue.ts'
import { problemError } from '@/testing/fake-client.ts'
import { mountPage, type MountedPage } from '@/testing/mount-page.ts'
import { makeScene, refused, type SceneName } from '@/testing/scenes.ts'
import WorkersPage from './WorkersPage.vue'

vi.setConfig({ testTimeout: 30_000 })
const start = Date.parse('2026-03-12T14:00:00Z')
let now = start
let page: MountedPage
afterEach(() => {
  page.wrapper.unmount()
  now = start
})

async function tick(scene: SceneName, at: number): Promise<void> {
  now = at
  const reading = readingAt(makeScene(scene, start).queues['clinic-main']!, at)
  dispatch({ kind: 'tick', tick: { connectionId: 'clinic-main', seq: at, reading, points: [] } })
  await flushPromises()
}
async function open(scene: SceneName, path = '/c/clinic-main/workers'): Promise<MountedPage> {
  page = await mountPage(WorkersPage, makeScene(scene, start), path, () => now)
  if (scene !== 'stale') await tick(scene, start)
  return page
}
const asked = (): number[] =>
  page.app.calls.flatMap(({ path, input }) =>
    path === 'workers.lanes' ? [(input as { fromMsAgo: number }).fromMsAgo] : []
  )
const text = (selector: string): string => page.wrapper.find(selector).text().replaceAll('\u2009', ' ')
const plotOf = (worker: string) =>
  page.wrapper
    .findAll('.group')
    .find((group) => group.text().includes(worker))!
    .find('.plot')

describe('the lanes', () => {
  it('are there for each worker, the lost one first with the time of its last sign of life', async () => {
    await open('failing')
    expect(page.wrapper.findAll('.group')).toHaveLength(12)
    expect(page.wrapper.findAll('.group')[0]!.text()).toContain('imp-12')
    expect(text('.group')).toContain('last heartbeat 13:56:48')
    expect(page.wrapper.findAll('.group path.bar').length).toBeGreaterThan(12)
  })

  it('are asked for once, then for what is new', async () => {
    await open('failing')
    expect(asked()).toEqual([600_000])
    await tick('failing', start + 2_000)
    expect(asked()).toHaveLength(1)
    await tick('failing', start + 4_000)
    expect(asked()).toEqual([600_000, 19_000])
  })

  it('reach as far back as the address says', async () => {
    const { router } = await open('failing', '/c/clinic-main/workers?window=2m')
    expect(asked()).toEqual([120_000])
    await page.wrapper.find('.toolbar input[value="30m"]').setValue(true)
    await flushPromises()
    expect(router.currentRoute.value.query['window']).toBe('30m')
    expect(asked().at(-1)).toBe(1_800_000)
  })

  it('are walked through by keys that leave the table alone, tell the attempt, and open its task', async () => {
    const { router } = await open('failing')
    const plot = plotOf('imp-02')
    await plot.trigger('focus')
    const before = text('.readout')
    expect(before).toMatch(/^480\d{5}/)
    await plot.trigger('keydown', { key: 'ArrowLeft' })
    expect(text('.readout')).not.toBe(before)
    expect(text('.readout')).toMatch(/import\.medical.*LAB_GATEWAY_TIMEOUT.*UTC/)
    expect(page.wrapper.find('tr.is-selected').exists()).toBe(false)
    const id = page.wrapper.find('.readout b').text()
    await plot.trigger('keydown', { key: 'Enter' })
    await flushPromises()
    expect(router.currentRoute.value.fullPath).toBe(`/c/clinic-main/tasks?task=${id}`)
  })

  it('of one worker grow when its name is pressed', async () => {
    await open('failing')
    const group = page.wrapper.findAll('.group')[1]!
    const height = () => parseInt((group.element as HTMLElement).style.height, 10)
    const compact = height()
    await group.find('button.name').trigger('click')
    expect(height()).toBeGreaterThan(compact)
    expect(group.find('button.name').attributes('aria-expanded')).toBe('true')
  })

  it('say when there are more attempts than are told', async () => {
    await open('failing')
    page.wrapper.unmount()
    page = await mountPage(WorkersPage, makeScene('failing', start), '/c/clinic-main/workers', () => now)
    const full = page.app.client.workers.lanes
    page.app.client.workers.lanes = (input: Parameters<typeof full>[0]) => full({ ...input, limit: 50 })
    await tick('failing', start + 60_000)
    expect(text('.lanes header')).toContain('only the newest')
  })

  it('show what cannot be read, and read it again', async () => {
    page = await mountPage(
      WorkersPage,
      { ...makeScene('failing', start), queues: {} },
      '/c/clinic-main/workers',
      () => now
    )
    page.app.gate = (path) => {
      if (path === 'workers.lanes') throw problemError(refused)
    }
    await tick('failing', start)
    expect(page.wrapper.find('.lanes [role=alert]').text()).toContain('Nothing answers')
    expect(page.wrapper.findAll('.workers tbody tr')).toHaveLength(12)
    await tick('failing', start + 2_000)
    await tick('failing', start + 4_000)
    expect(asked()).toHaveLength(2)
    await page.wrapper.find('.lanes [role=alert] button').trigger('click')
    await flushPromises()
    expect(asked()).toHaveLength(3)
  })

  it('are not asked for while the database is away', async () => {
    await open('stale')
    expect(asked()).toEqual([])
    expect(text('.lanes')).toContain('which cannot be reached now')
  })
})

describe('what the lanes warn of', () => {
  it('are leases that nobody renews, and stuck tasks with the evidence, each with its task', async () => {
    await open('failing')
    const [leases, stuck] = page.wrapper.findAll('.risks section')
    expect(leases!.text()).toContain('all of imp-12')
    expect(leases!.text().replaceAll('\u2009', ' ')).toMatch(/4[89] s|5\d s/)
    expect(stuck!.text().replaceAll('\u2009', ' ')).toContain('cancel asked 3 m 06 s ago')
    expect(stuck!.text()).toMatch(/running 9.m 12.s, \d+\.\d × the p99/)
    const link = stuck!.findAll('a').find((one) => one.text() === '48009117')!
    expect(link.attributes('href')).toBe('/c/clinic-main/tasks?task=48009117')
  })

  it('is nothing while all is well', async () => {
    await open('healthy')
    expect(text('.risks')).toContain('None: every worker renews in time.')
  })
})
