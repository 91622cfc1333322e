import { flushPromises } from '@vue/test-utils'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { ProbeName } from '@contract'
import { dispatch } from '@/state/feed.ts'
import { readingAt } from '@/testing/demo-queue.ts'
import { readingOfTable, withForeignTable } from '@/testing/foreign.ts'
import { mountPage, type MountedPage } from '@/testing/mount-page.ts'
import { makeScene, type SceneName } from '@/testing/scenes.ts'
import { useMetricsStore } from '@/state/metrics-store.ts'
import ShareMenu from '@/state/ui/ShareMenu.vue'
import OverviewPage from './OverviewPage.vue'

// happy-dom has no canvas; what the chart would draw is tested in chart-option.test.ts.
vi.mock('@/shared/charts/use-chart.ts', async () => {
  const { shallowRef } = await import('vue')
  return { useChart: () => shallowRef(null) }
})
vi.setConfig({ testTimeout: 30_000 })

const start = 1_770_000_000_000
let page: MountedPage
const open = async (scene: SceneName, path: string): Promise<void> => {
  page = await mountPage(OverviewPage, makeScene(scene, start), path, () => start)
}
const text = (): string => page.wrapper.text().replaceAll('\u2009', ' ')

beforeEach(() => vi.useFakeTimers({ now: start, toFake: ['Date', 'setInterval', 'clearInterval'] }))
afterEach(() => {
  page.wrapper.unmount()
  vi.useRealTimers()
})

describe('OverviewPage', () => {
  it('says what fails before it shows the numbers', async () => {
    await open('failing', '/c/clinic-main/overview')
    expect(page.wrapper.find('.sentence').text()).toContain('import.medical')
    expect(text()).toContain('is failing')
    expect(page.wrapper.findAll('.tile')).toHaveLength(4)
    expect(page.wrapper.findAll('.panel')).toHaveLength(6)
    expect(text()).toContain('imp-12: no heartbeat for 3 m 12 s')
  })

  describe('of another application’s table', () => {
    async function openTable(more: readonly ProbeName[] = []): Promise<void> {
      const scene = withForeignTable(makeScene('failing', start), 'clinic-main')
      page = await mountPage(OverviewPage, scene, '/c/clinic-main/overview', () => start)
      const reading = readingOfTable(readingAt(scene.queues['clinic-main']!, start), more)
      dispatch({ kind: 'tick', tick: { connectionId: 'clinic-main', seq: 2, reading, points: [] } })
      await flushPromises()
    }

    it('says of what the table does not tell that it is not known, and why, and draws no chart of it', async () => {
      await openTable()
      expect(page.wrapper.findAll('.tile').at(-1)?.text()).toContain('–not known: the table has no workers')
      expect(page.wrapper.findAll('.tile').at(-1)?.classes()).toContain('plain')
      expect(page.wrapper.findAll('.panel')).toHaveLength(4)
      expect(page.wrapper.find('thead').text()).not.toMatch(/Retried|p95/)
      expect(text()).toContain('4 not known')
      expect(page.wrapper.find('.sentence').text()).toMatch(
        /of its tasks that ended in the last 5 min failed\.(?!.*tried again)/
      )
      page.wrapper.unmount()
      await openTable(['submitted', 'finished', 'ended', 'oldest'])
      expect(page.wrapper.findAll('.panel')).toHaveLength(1)
      expect(page.wrapper.find('thead').text()).not.toMatch(/Oldest|min|Failure|Failed/)
      expect(page.wrapper.findAll('.tile').at(2)?.text()).toContain('not known: the profile has no end times')
    })

    it('leaves out of "All is well" what is not known of the last minute', async () => {
      const scene = withForeignTable(makeScene('healthy', start), 'clinic-main')
      page = await mountPage(OverviewPage, scene, '/c/clinic-main/overview', () => start)
      const sentenceWithout = async (...more: ProbeName[]): Promise<string> => {
        const reading = readingOfTable(readingAt(scene.queues['clinic-main']!, start), more)
        dispatch({ kind: 'tick', tick: { connectionId: 'clinic-main', seq: 2, reading, points: [] } })
        await flushPromises()
        return page.wrapper.find('.sentence').text()
      }
      expect(await sentenceWithout('submitted')).toMatch(/^All is well\. [\d,]+ out in the last minute\.$/)
      expect(await sentenceWithout('submitted', 'finished')).toBe('All is well.')
    })

    it('leads to the pages of its types and to nothing that lists tasks', async () => {
      await openTable()
      const links = page.wrapper.findAll('a').map((link) => link.attributes('href') ?? '')
      expect(links.filter((link) => /\/(tasks|workers|local-worker)/.test(link))).toEqual([])
      expect(page.wrapper.find('.sentence').text()).toContain('Open the type')
      expect(links).toContain('/c/clinic-main/types/import.medical')
      await page.wrapper
        .findAll('tbody tr')
        .find((row) => row.text().includes('mail.send'))!
        .trigger('click')
      await flushPromises()
      expect(page.router.currentRoute.value.fullPath).toBe('/c/clinic-main/types/mail.send')
    })

    it('offers no sample where nothing has happened yet', async () => {
      page = await mountPage(
        OverviewPage,
        withForeignTable(makeScene('quiet', start), 'local'),
        '/c/local/overview',
        () => start
      )
      expect(page.wrapper.findAll('.tile')).toHaveLength(4)
      expect(text()).not.toContain('Run a sample workload')
    })
  })

  it('tells workers that have stopped from none that ever reported', async () => {
    await open('healthy', '/c/clinic-main/overview')
    const { readingAt } = await import('@/testing/demo-queue.ts')
    const { dispatch } = await import('@/state/feed.ts')
    const reading = readingAt(makeScene('healthy', start).queues['clinic-main']!, start)
    const stopped = reading.workers.map((one) => ({ ...one, status: 'stopped' as const }))
    const show = async (seq: number, workers: typeof stopped): Promise<string> => {
      const tick = { connectionId: 'clinic-main', seq, reading: { ...reading, workers }, points: [] }
      dispatch({ kind: 'tick', tick })
      await flushPromises()
      return text()
    }
    expect(await show(2, stopped)).toContain('all 12 have stopped')
    expect(await show(3, stopped.slice(0, 1))).toContain('1 has stopped')
    expect(await show(4, [])).toContain('none has reported yet')
  })

  it('ends with what was read last, not at the start of its step: what is shared has it in', async () => {
    await open('healthy', '/c/clinic-main/overview')
    const metrics = useMetricsStore()
    const readAt = metrics.readings.get('clinic-main')!.at
    metrics.ring = { ...metrics.ring!, times: [readAt - 10_000], values: new Map() } // one step, begun before
    await flushPromises()
    expect(page.wrapper.getComponent(ShareMenu).props('to')).toBe(readAt)
  })

  it('moves with each tick', async () => {
    await open('failing', '/c/clinic-main/overview')
    const before = page.wrapper.find('.tile .value').text()
    const later = makeScene('failing', start).queues['clinic-main']!
    const { readingAt, pointsAt } = await import('@/testing/demo-queue.ts')
    const { dispatch } = await import('@/state/feed.ts')
    const at = start + 60_000
    dispatch({
      kind: 'tick',
      tick: { connectionId: 'clinic-main', seq: 2, reading: readingAt(later, at), points: pointsAt(later, at) }
    })
    await flushPromises()
    expect(page.wrapper.find('.tile .value').text()).not.toBe(before)
  })

  it('keeps the last picture when the database is gone, and says how old it is', async () => {
    await open('stale', '/c/clinic-main/overview')
    expect(page.wrapper.find('.sentence.warn').text().replaceAll('\u2009', ' ')).toContain(
      'Last known picture, 3 m 35 s old.'
    )
    expect(page.wrapper.findAll('.tile.stale')).toHaveLength(4)
    expect(text()).toContain('as of ')
    await page.wrapper.find('.sentence button').trigger('click')
    expect(page.app.calls.at(-1)).toEqual({ path: 'connections.retryNow', input: { connectionId: 'clinic-main' } })
  })

  it('says what to do next in an empty queue, and starts worker and sample with one click', async () => {
    await open('healthy', '/c/local/overview')
    expect(text()).toContain('Nothing has happened in this queue yet')
    await page.wrapper.find('.way button.n-button--primary-type').trigger('click')
    await flushPromises()
    expect(page.app.calls.map((call) => call.path)).toEqual(
      expect.arrayContaining(['localWorker.start', 'localWorker.startSample'])
    )
  })

  it('shows unknown numbers as a dash in an empty queue', async () => {
    await open('healthy', '/c/local/overview')
    const values = page.wrapper.findAll('.tile .value').map((value) => value.text())
    expect(values).toEqual(['0', '–', '–', '0'])
  })

  it('asks for the password of a locked connection and forgets it at once', async () => {
    await open('healthy', '/c/dev-shared/overview')
    const field = page.wrapper.find<HTMLInputElement>('input[type=password]')
    await field.setValue('s3cret')
    await page.wrapper.find('form.unlock').trigger('submit')
    await flushPromises()
    const unlocked = page.app.calls.find((call) => call.path === 'connections.unlock')
    expect(unlocked?.input).toEqual({ connectionId: 'dev-shared', password: 's3cret' })
    expect(page.wrapper.html()).not.toContain('s3cret')
  })

  it("offers the migration's SQL to read before it can be run, and runs what was read", async () => {
    await open('healthy', '/c/lab-staging/overview')
    expect(text()).toContain('has no Taskdeck tables yet')
    expect(text()).not.toContain('Run the migration')
    await page.wrapper.find('.empty button').trigger('click')
    await flushPromises()
    expect(page.wrapper.find('pre').text()).toContain('CREATE TABLE task (')
    await page.wrapper.find('.plan footer button').trigger('click')
    await flushPromises()
    document.querySelector<HTMLFormElement>('form.confirm')?.dispatchEvent(new Event('submit', { cancelable: true }))
    await vi.waitFor(() => expect(page.app.calls.map((call) => call.path)).toContain('connections.migrate'))
    const migrated = page.app.calls.find((call) => call.path === 'connections.migrate')
    expect(migrated?.input).toMatchObject({ planHash: expect.stringMatching(/^[0-9a-f]{64}$/) as string })
  })

  it('says when there is no such connection', async () => {
    await open('healthy', '/c/gone/overview')
    expect(text()).toContain('There is no such connection')
  })

  it('asks the picture of another range when the route has one', async () => {
    await open('healthy', '/c/clinic-main/overview?range=6h')
    const asked = page.app.calls.filter((call) => call.path === 'overview.snapshot').map((call) => call.input)
    expect(asked[0]).toMatchObject({ connectionId: 'clinic-main', rangeMs: 21_600_000 })
  })

  const asked = (): Record<string, number>[] =>
    page.app.calls.filter((call) => call.path === 'overview.snapshot').map((call) => call.input as never)

  it('names the incident that is behind the trouble, and lets it be taken on the spot', async () => {
    await open('failing', '/c/clinic-main/overview')
    await page.router.isReady()
    const { useAlertsStore } = await import('@/state/alerts-store.ts')
    await useAlertsStore().refresh('clinic-main')
    await flushPromises()
    const sentence = page.wrapper.find('.sentence')
    expect(sentence.text()).toMatch(/import\.medical waits 17\sm 00\ss\. Also firing: Worker heartbeat\./)
    expect(sentence.find('a.context').attributes('href')).toBe('/c/clinic-main/alerts?incident=now')
    expect(text()).toContain('above since')
    const acknowledge = sentence.findAll('button').find((one) => one.text() === 'Acknowledge')
    await acknowledge!.trigger('click')
    await flushPromises()
    const calls = page.app.calls.filter(({ path }) => path === 'alerts.acknowledge')
    expect(calls).toMatchObject([{ input: { incidentId: 'now' } }])
    expect(page.wrapper.find('.sentence').text()).toContain('Acknowledged by ada.')
  })

  it('opens the range around a moment that it is sent to, as fine as it can be had, and goes back to live', async () => {
    const at = start - 5 * 3_600_000
    await open('failing', `/c/clinic-main/overview?at=${at}`)
    const past = asked().find((input) => typeof input['endAt'] === 'number')!
    expect(past['endAt']! - past['rangeMs']!).toBeLessThan(at)
    expect(past['endAt']).toBeGreaterThan(at)
    expect(past['endAt']).toBeLessThan(start)
    const back = page.wrapper.findAll('button').find((one) => one.text() === 'Back to live')!
    await back.trigger('click')
    await flushPromises()
    expect(page.router.currentRoute.value.query).toEqual({})
  })

  it('asks for the same hours of an earlier day, and no more once nothing is compared', async () => {
    await open('failing', '/c/clinic-main/overview?compare=7d')
    const earlier = asked().filter((input) => typeof input['endAt'] === 'number')
    expect(earlier).toHaveLength(1)
    const weekAgo = start - 7 * 86_400_000
    expect(Math.abs(earlier[0]!['endAt']! - weekAgo)).toBeLessThan(3_600_000 / 6)
    page.wrapper.unmount()
    await open('failing', '/c/clinic-main/overview')
    expect(asked().filter((input) => typeof input['endAt'] === 'number')).toEqual([])
  })

  it('marks incidents on the strip, each with the way to it', async () => {
    await open('failing', '/c/clinic-main/overview')
    const marks = page.wrapper.findAll('.strip a.incident')
    expect(marks.map((one) => one.attributes('href'))).toContain('/c/clinic-main/alerts?incident=claim')
    expect(marks.map((one) => one.attributes('title')).join()).toContain('Claim p95, since')
  })

  it('says once that there is nothing to compare with, and reads out no values of then', async () => {
    page = await mountPage(
      OverviewPage,
      makeScene('healthy', start),
      '/c/clinic-main/overview?compare=1d',
      () => start,
      (app) => {
        const asked = app.client.overview.snapshot
        app.client.overview.snapshot = async (input: { endAt?: number | null }, options: unknown) => {
          const found = await asked(input as never, options as never)
          return typeof input.endAt === 'number' ? { ...found, times: [], series: [] } : found
        }
      }
    )
    await flushPromises()
    expect(text()).toContain('vs yesterday: no data')
    expect(text()).not.toContain('−1 d')
  })

  it('says how a figure is bounded, why, and which index would make it exact', async () => {
    await open('healthy', '/c/clinic-main/overview')
    const { readingAt } = await import('@/testing/demo-queue.ts')
    const { dispatch } = await import('@/state/feed.ts')
    const reading = readingAt(makeScene('healthy', start).queues['clinic-main']!, start)
    const index = 'CREATE INDEX by_state ON task (state, type)'
    const limits = [
      { probe: 'depth', reason: 'plan' as const, index },
      { probe: 'workers', reason: 'rights' as const, index: null }
    ]
    const depth = [{ type: 'mail.send', state: 'QUEUED' as const, count: 50_000, accuracy: 'atLeast' as const }]
    const tick = {
      connectionId: 'clinic-main',
      seq: 2,
      reading: { ...reading, depth, limits, workers: [] },
      points: []
    }
    dispatch({ kind: 'tick', tick })
    await flushPromises()
    const values = page.wrapper.findAll('.tile .value').map((value) => value.text())
    expect(values[0]).toBe('50,000+')
    expect(values[3]).toBe('–')
    expect(page.wrapper.find('.tile').attributes('title')).toContain(index)
    expect(text()).toContain('2 held back')
    expect(text()).not.toContain('No worker is alive')
    const row = page.wrapper.findAll('.types tbody tr').find((one) => one.text().includes('webhook.deliver'))!
    expect(row.findAll('td')[1]!.text()).toBe('–')
  })

  it('shows at once what is known when the reader comes back to it', async () => {
    await open('failing', '/c/clinic-main/overview')
    const { useMetricsStore } = await import('@/state/metrics-store.ts')
    expect(useMetricsStore().ring).not.toBeNull()
    const { mount } = await import('@vue/test-utils')
    const { NMessageProvider } = await import('naive-ui')
    const { h } = await import('vue')
    const { i18n } = await import('@/shared/i18n/i18n.ts')
    const { getActivePinia } = await import('pinia')
    const plugins = [getActivePinia()!, page.router, i18n]
    const again = mount(NMessageProvider, { slots: { default: () => h(OverviewPage) }, global: { plugins } })
    expect(again.findAll('.panel')).toHaveLength(6)
    again.unmount()
  })
})
