import { flushPromises } from '@vue/test-utils'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { QueueReading } from '@contract'
import { dispatch } from '@/state/feed.ts'
import { readingAt } from '@/testing/demo-queue.ts'
import { mountPage, type MountedPage } from '@/testing/mount-page.ts'
import { makeScene, type SceneName } from '@/testing/scenes.ts'
import CapacityPage from './CapacityPage.vue'

// A whole page is mounted for each test: the first one is slow on a busy machine.
vi.setConfig({ testTimeout: 20_000 })
const now = Date.parse('2026-03-12T14:00:00Z')
let page: MountedPage | undefined
afterEach(() => page?.wrapper.unmount())

async function open(
  query = '',
  change: (reading: QueueReading) => QueueReading = (reading) => reading,
  name: SceneName = 'healthy'
): Promise<MountedPage> {
  const scene = makeScene(name, now)
  page = await mountPage(CapacityPage, scene, `/c/clinic-main/capacity${query}`, () => now)
  const reading = change(readingAt(scene.queues['clinic-main']!, now))
  dispatch({ kind: 'tick', tick: { connectionId: 'clinic-main', seq: 2, reading, points: [] } })
  await flushPromises()
  return page
}
const sentence = ({ wrapper }: MountedPage): string => wrapper.find('.sentence').text()
const numbers = ({ wrapper }: MountedPage): string[] => wrapper.findAll('.numbers .values').map((one) => one.text())
async function type({ wrapper }: MountedPage, label: string, value: string): Promise<void> {
  const id = wrapper
    .findAll('label')
    .find((one) => one.text() === label)
    ?.attributes('for')
  const input = wrapper.find(`[id="${id}"]`)
  await input.setValue(value)
  await input.trigger('change')
  await input.trigger('blur')
  await flushPromises()
}

describe('the capacity page', () => {
  it('says what limits the queue, with the numbers that it follows from', async () => {
    const opened = await open()
    expect(sentence(opened)).toContain('slots are the limit')
    const execute = opened.wrapper.find('.bound.limits').text()
    expect(execute).toContain('12')
    expect(execute).toContain('20')
    expect(opened.wrapper.text()).toContain("The attempt's duration is measured")
  })

  it('shows at once what other numbers would change, beside what is, and keeps them in the address', async () => {
    const opened = await open()
    const [before] = numbers(opened)
    await type(opened, 'Workers', '24')
    expect(opened.router.currentRoute.value.query).toEqual({ workers: '24' })
    expect(numbers(opened)[0]).toMatch(new RegExp(`^${before?.replace('/', '\\/')}`))
    expect(numbers(opened)[0]).not.toBe(before)
    expect(sentence(opened)).toContain('what if')
    await opened.wrapper.find('.toolbar button.n-button').trigger('click')
    await flushPromises()
    expect(numbers(opened)).toEqual(expect.arrayContaining([before]))
    expect(opened.router.currentRoute.value.query).toEqual({})
  })

  it('says that the queue grows when more comes than can be done', async () => {
    const opened = await open('?workers=1&arrivals=100000')
    expect(sentence(opened)).toContain('More comes than the slots can hold')
    expect(numbers(opened)[2]).toContain('never')
    expect(opened.wrapper.find('.sentence.bad').exists()).toBe(true)
  })

  it('gives no forecast without a duration, until one is typed', async () => {
    const silent = (reading: QueueReading): QueueReading => ({
      ...reading,
      duration: null,
      flow: reading.flow.map((flow) => ({ ...flow, ended5m: 0, retried5m: 0, duration: null }))
    })
    const opened = await open('', silent)
    expect(sentence(opened)).toContain('nobody knows how long one takes')
    expect(numbers(opened).every((text) => text === '–')).toBe(true)
    expect(opened.wrapper.text()).toContain('No forecast: a number is missing.')
    await type(opened, 'Duration of an attempt', '2')
    expect(sentence(opened)).toContain('is needed')
  })

  it('counts the workers for a wait and for the backlog', async () => {
    const opened = await open('?drain=1')
    const goals = opened.wrapper.findAll('.goal').map((goal) => goal.text())
    expect(goals[0]).toMatch(/\d+workers?\d+ fewer than now/)
    expect(goals[1]).toMatch(/\d+workers?/)
  })

  it('is of one type when a row is opened: with what the others leave', async () => {
    const opened = await open()
    const rows = opened.wrapper.findAll('tbody tr')
    expect(rows.length).toBeGreaterThan(5)
    await rows[0]!.trigger('click')
    await flushPromises()
    expect(opened.router.currentRoute.value.query).toEqual({ type: 'import.medical' })
    expect(opened.wrapper.text()).toContain('slots of other types')
    expect(opened.wrapper.find('tbody').exists()).toBe(false)
  })

  it('says that a bounded backlog may take longer', async () => {
    const bounded = (reading: QueueReading): QueueReading => ({
      ...reading,
      depth: reading.depth.map((part) => ({
        ...part,
        ...(part.state === 'QUEUED' && { accuracy: 'atLeast' as const })
      }))
    })
    const opened = await open('', bounded)
    expect(numbers(opened)[2]).toMatch(/^>/)
    expect(opened.wrapper.text()).toContain('At least this many tasks wait')
  })

  it('is not green, and promises nothing, while no worker takes a type', async () => {
    const opened = await open('', (reading) => ({
      ...reading,
      depth: reading.depth.filter(({ type, state }) => type !== 'mail.send' || state === 'QUEUED'),
      oldest: [{ type: 'mail.send', taskId: '1', ageMs: 468_000 }],
      flow: reading.flow.map((one) => (one.type === 'mail.send' ? { ...one, finished1m: 0, ended5m: 0 } : one))
    }))
    expect(sentence(opened)).toMatch(/^mail\.send \d+ tasks wait and none of them is taken, though slots are free/)
    expect(opened.wrapper.find('.sentence.warn').exists()).toBe(true)
    expect(numbers(opened)[2]).toBe('–')
    expect(opened.wrapper.text()).not.toContain('fewer than now')
    expect(opened.wrapper.find('tbody tr.is-hot').text()).toContain('not taken')
  })

  it('says that nothing is done without workers', async () => {
    const opened = await open('', (reading) => ({ ...reading, workers: [] }))
    expect(sentence(opened)).toContain('No worker takes tasks')
  })

  it('takes w to the first number', async () => {
    const opened = await open()
    document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'w', bubbles: true, cancelable: true }))
    expect(opened.wrapper.find('.form input').element).toBe(document.activeElement)
  })

  it('shows the last picture, and its time, while the database is away', async () => {
    page = await mountPage(CapacityPage, makeScene('stale', now), '/c/clinic-main/capacity', () => now)
    expect(page.wrapper.text()).toContain('Last known picture, read at 13:56:25 UTC')
  })

  it('waits before the first reading, and shows no zero', async () => {
    page = await mountPage(
      CapacityPage,
      { ...makeScene('healthy', now), queues: {} },
      '/c/clinic-main/capacity',
      () => now
    )
    expect(page.wrapper.find('[aria-busy=true]').exists()).toBe(true)
    expect(page.wrapper.text()).not.toContain('0')
  })
})
