import { flushPromises } from '@vue/test-utils'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { dispatch } from '@/state/feed.ts'
import { pointsAt, readingAt } from '@/testing/demo-queue.ts'
import { readingOfTable, withForeignTable } from '@/testing/foreign.ts'
import { problemError } from '@/testing/fake-client.ts'
import { mountPage, type MountedPage } from '@/testing/mount-page.ts'
import { makeScene, refused, type SceneName } from '@/testing/scenes.ts'
import TypePage from './TypePage.vue'

// happy-dom has no canvas; what the chart would draw is tested in chart-option.test.ts.
vi.mock('@/shared/charts/use-chart.ts', async () => {
  const { shallowRef } = await import('vue')
  return { useChart: () => shallowRef(null) }
})
vi.setConfig({ testTimeout: 30_000 })

const start = 1_770_000_000_000
let page: MountedPage
let now = start
async function open(scene: SceneName, path = '/c/clinic-main/types/import.medical'): Promise<MountedPage> {
  page = await mountPage(TypePage, makeScene(scene, start), path, () => now)
  return page
}
const text = (): string => page.wrapper.text().replaceAll('\u2009', ' ')
const asked = (): unknown[] => page.app.calls.filter(({ path }) => path === 'workers.lanes').map(({ input }) => input)
async function tick(scene: SceneName, at: number): Promise<void> {
  now = at
  const queue = makeScene(scene, start).queues['clinic-main']!
  const seq = 1 + Math.round((at - start) / 1_000)
  const made = { connectionId: 'clinic-main', seq, reading: readingAt(queue, at), points: pointsAt(queue, at) }
  dispatch({ kind: 'tick', tick: made })
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

describe('the page of a type', () => {
  it('of another application’s table has its figures, says what is not known, and asks for no attempts', async () => {
    const scene = withForeignTable(makeScene('failing', start), 'clinic-main')
    page = await mountPage(TypePage, scene, '/c/clinic-main/types/import.medical', () => now)
    const reading = readingOfTable(readingAt(scene.queues['clinic-main']!, start))
    dispatch({ kind: 'tick', tick: { connectionId: 'clinic-main', seq: 2, reading, points: [] } })
    await flushPromises()
    expect(page.wrapper.findAll('.tile')).toHaveLength(4)
    expect(page.wrapper.findAll('.tile').at(-1)?.text()).toContain('–not known: the table has no attempts')
    expect(page.wrapper.findAll('.charts .panel')).toHaveLength(4)
    expect(page.wrapper.findAll('a').map((link) => link.attributes('href'))).toEqual([])
    expect(text()).toContain('Which errors there were and who ran it is not known')
    expect(asked()).toEqual([])
  })

  it('says what is wrong with it before the numbers and charts of it alone', async () => {
    await open('failing')
    expect(page.wrapper.find('h1').text()).toBe('import.medical')
    expect(page.wrapper.find('.sentence').text()).toContain('It is failing')
    expect(page.wrapper.find('.sentence a').attributes('href')).toBe(
      '/c/clinic-main/tasks?type=import.medical&state=FAILED,RETRY_WAIT'
    )
    expect(page.wrapper.findAll('.tile')).toHaveLength(4)
    expect(page.wrapper.findAll('.charts .panel')).toHaveLength(6)
    const depth = page.wrapper.find('.tile .value').text()
    page.wrapper.unmount()
    await open('failing', '/c/clinic-main/types/mail.send')
    expect(page.wrapper.find('.tile .value').text()).not.toBe(depth)
    expect(page.wrapper.find('.sentence').text()).toContain('All is well')
  })

  it('counts its errors, each with the way to its tasks, and names who runs it', async () => {
    await open('failing')
    const error = page.wrapper.findAll('.evidence a').find((one) => one.text() === 'LAB_GATEWAY_TIMEOUT')!
    expect(error.attributes('href')).toBe('/c/clinic-main/tasks?type=import.medical&error=LAB_GATEWAY_TIMEOUT')
    const worker = page.wrapper.findAll('.evidence a').find((one) => one.text() === 'imp-01')!
    expect(worker.attributes('href')).toBe('/c/clinic-main/workers?worker=imp-01')
    expect(asked()).toEqual([{ connectionId: 'clinic-main', type: 'import.medical', fromMsAgo: 900_000 }])
  })

  it('says that no attempt ended, and not that all ended well', async () => {
    now = start
    page = await mountPage(
      TypePage,
      makeScene('healthy', start),
      '/c/clinic-main/types/mail.send',
      () => now,
      (app) => {
        const none = { at: start, ended: [], allEnded: true, running: [], allRunning: true, limits: [] }
        app.client.workers.lanes = () => Promise.resolve(none)
      }
    )
    expect(text()).toContain('No attempt ended in the last 15 min.')
    expect(text()).not.toContain('ended well')
  })

  it('moves with readings, and looks at the attempts again only now and then', async () => {
    await open('failing')
    const before = text()
    await tick('failing', start + 8_000)
    expect(text()).not.toBe(before)
    expect(asked()).toHaveLength(1)
    await tick('failing', start + 31_000)
    expect(asked()).toHaveLength(2)
  })

  it('says that nothing is known of a type that nobody has', async () => {
    await open('healthy', '/c/clinic-main/types/no.such')
    expect(text()).toContain('Nothing is known of no.such')
    expect(page.wrapper.find('a[href="/c/clinic-main/overview"]').exists()).toBe(true)
  })

  it('says when a type that is gone was last seen, and shows the range that has it', async () => {
    page = await mountPage(TypePage, makeScene('healthy', start), '/c/clinic-main/overview', () => now)
    page.app.seenUntil.set('old.export', start - 10 * 3_600_000)
    await page.router.push('/c/clinic-main/types/old.export')
    await flushPromises()
    expect(text()).toContain('Nothing of old.export in the last 1h')
    expect(text()).toMatch(/It was last seen at 2026-02-01 \d\d:\d\d:\d\d UTC, 10 h 0\d m ago/)
    const looked = page.app.calls.flatMap(({ path, input }) => (path === 'overview.snapshot' ? [input] : []))
    expect(looked.filter((one) => 'types' in (one as object))).toMatchObject([
      { rangeMs: 21_600_000, types: ['old.export'] },
      { rangeMs: 86_400_000, types: ['old.export'] }
    ])
    await page.wrapper
      .findAll('.empty button')
      .find((one) => one.text() === 'Show 24h')!
      .trigger('click')
    await flushPromises()
    expect(page.router.currentRoute.value.query).toEqual({ range: '24h' })
    expect(page.wrapper.findAll('.charts .panel')).toHaveLength(6)
  })

  it('says that it could not look further back, and looks again', async () => {
    await open('healthy', '/c/clinic-main/types/mail.send')
    page.app.gate = (path) => {
      if (path === 'overview.snapshot') throw problemError(refused)
    }
    await page.router.push('/c/clinic-main/types/no.such')
    await flushPromises()
    expect(page.wrapper.find('[role=alert]').text()).toContain('Nothing answers')
    page.app.gate = () => undefined
    await page.wrapper.find('[role=alert] button').trigger('click')
    await flushPromises()
    expect(page.wrapper.find('[role=alert]').exists()).toBe(false)
    expect(text()).toContain('Nothing is known of no.such')
  })

  it('shows that errors cannot be read beside all that can, and reads them again', async () => {
    await open('failing')
    page.app.gate = (path) => {
      if (path === 'workers.lanes') throw problemError(refused)
    }
    await tick('failing', start + 31_000)
    expect(page.wrapper.find('.evidence [role=alert]').text()).toContain('Nothing answers')
    expect(page.wrapper.findAll('.charts .panel')).toHaveLength(6)
    page.app.gate = () => undefined
    await page.wrapper.find('.evidence [role=alert] button').trigger('click')
    await flushPromises()
    expect(page.wrapper.find('.evidence [role=alert]').exists()).toBe(false)
  })

  it('keeps the last picture of a database that is away, with its time, and asks it nothing', async () => {
    await open('stale')
    expect(page.wrapper.find('.sentence').text()).toContain('Last known picture')
    expect(page.wrapper.findAll('.tile.stale')).toHaveLength(4)
    expect(text()).toContain('Errors are read from the database')
    expect(asked()).toEqual([])
  })

  it('says what is in the way when there is no picture', async () => {
    await open('healthy', '/c/nobody/types/mail.send')
    expect(text()).toContain('There is no such connection')
    page.wrapper.unmount()
    await open('healthy', '/c/dev-shared/types/mail.send')
    expect(text()).toContain('dev-shared needs its password')
    page.wrapper.unmount()
    await open('healthy', '/c/lab-staging/types/mail.send')
    expect(page.wrapper.findAll('.charts')).toHaveLength(0)
  })

  it('keeps the drawn time in its address, and goes back to live', async () => {
    const { router } = await open(
      'failing',
      `/c/clinic-main/types/mail.send?from=${start - 600_000}&to=${start - 60_000}`
    )
    const live = page.wrapper.findAll('.toolbar button').find((one) => one.text() === 'Back to live')!
    await live.trigger('click')
    await flushPromises()
    expect(router.currentRoute.value.fullPath).toBe('/c/clinic-main/types/mail.send')
  })
})
