import { flushPromises } from '@vue/test-utils'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { useAlertsStore } from '@/state/alerts-store.ts'
import { dispatch } from '@/state/feed.ts'
import { problemError } from '@/testing/fake-client.ts'
import { mountPage, type MountedPage } from '@/testing/mount-page.ts'
import { makeScene, refused, type SceneName } from '@/testing/scenes.ts'
import AlertsPage from './AlertsPage.vue'

// happy-dom has no canvas; what the chart would draw is tested in chart-option.test.ts.
vi.mock('@/shared/charts/use-chart.ts', async () => {
  const { shallowRef } = await import('vue')
  return { useChart: () => shallowRef(null) }
})
vi.setConfig({ testTimeout: 30_000 })

const start = 1_770_000_000_000
let page: MountedPage
async function open(scene: SceneName, query = '', hold?: string): Promise<void> {
  const path = `/c/clinic-main/alerts${query}`
  page = await mountPage(
    AlertsPage,
    makeScene(scene, start),
    path,
    () => start,
    (app) => {
      app.gate = (called) => (called === hold ? new Promise<void>(() => undefined) : undefined)
    }
  )
  await flushPromises()
}
const text = (): string => page.wrapper.text().replaceAll('\u2009', ' ')
const query = (): Record<string, unknown> => page.router.currentRoute.value.query
const callsOf = (path: string): unknown[] =>
  page.app.calls.filter((call) => call.path === path).map((call) => call.input)
const rows = (): string[] => page.wrapper.findAll('.rules tbody tr').map((row) => row.text().replaceAll('\u2009', ' '))
const button = (name: string) => page.wrapper.findAll('button').find((one) => one.text() === name)!
async function press(key: string): Promise<void> {
  window.dispatchEvent(new KeyboardEvent('keydown', { key, cancelable: true }))
  await flushPromises()
}
async function submit(values: Record<string, string>): Promise<void> {
  const dialog = document.querySelector('[role=dialog]')!
  for (const [label, value] of Object.entries(values)) {
    const id = [...dialog.querySelectorAll('label')].find((one) => one.textContent === label)!.htmlFor
    const input = document.getElementById(id) as HTMLInputElement
    input.value = value
    input.dispatchEvent(new Event('input'))
  }
  dialog.querySelector('form')!.dispatchEvent(new Event('submit', { cancelable: true }))
  await flushPromises()
}

beforeEach(() => vi.useFakeTimers({ now: start, toFake: ['Date', 'setInterval', 'clearInterval'] }))
afterEach(() => {
  page.wrapper.unmount()
  vi.useRealTimers()
})

describe('AlertsPage', () => {
  it('has the rules that fire on top, with what they watch, their figure now and their week', async () => {
    await open('failing')
    expect(text()).toContain('3 firing, 1 pending, 1 silenced')
    expect(rows()).toHaveLength(12)
    expect(rows()[0]).toBe('FiringOldest waiting> 5 m16 m 48 s1 ×')
    expect(rows().find((row) => row.includes('Recovered'))).toContain('Pending 4 m')
    expect(rows().find((row) => row.includes('webhook.deliver'))).toContain('Silenced to')
  })

  it('shows when the chosen rule would have fired, and how often with other settings', async () => {
    await open('failing', '?rule=failureRate')
    expect(page.wrapper.find('.editor h3').text()).toContain('Failure rate')
    expect(text()).toMatch(/Would have fired \d+ times in the last 7 days/)
    expect(page.wrapper.findAll('.variants button')).toHaveLength(3)
  })

  it('previews what is typed and saves it; a threshold takes the end of the trouble down with it', async () => {
    await open('failing', '?rule=failureRate')
    await page.wrapper.find('input[aria-label="Threshold"]').setValue('5 %')
    await vi.waitFor(() =>
      expect(callsOf('alerts.preview').at(-1)).toMatchObject({ rule: { above: 0.05, clearAt: 0.05 } })
    )
    await button('Save').trigger('click')
    await flushPromises()
    expect(callsOf('alerts.saveRule')[0]).toMatchObject({
      connectionId: 'clinic-main',
      ruleId: 'failureRate',
      rule: { above: 0.05, clearAt: 0.05, forMs: 120_000 }
    })
    expect(rows().find((row) => row.includes('Failure rate'))).toContain('> 5 %')
  })

  it('fills in what a changed default was, and offers that of no other rule', async () => {
    await open('failing', '?rule=failureRate')
    const offered = (): boolean => page.wrapper.findAll('button').some((one) => one.text() === 'Fill in the default')
    expect(offered()).toBe(false)
    const threshold = page.wrapper.find<HTMLInputElement>('input[aria-label="Threshold"]')
    await threshold.setValue('5 %')
    await button('Save').trigger('click')
    await flushPromises()
    await button('Fill in the default').trigger('click')
    expect(threshold.element.value).toMatch(/10.%/)
    await button('Save').trigger('click')
    await flushPromises()
    expect(callsOf('alerts.saveRule')).toHaveLength(1)
    expect(callsOf('alerts.removeRule')).toEqual([{ connectionId: 'clinic-main', ruleId: 'failureRate' }])
    expect(threshold.element.value).toMatch(/10.%/)
    expect(offered()).toBe(false)
  })

  it('does not save what is no threshold', async () => {
    await open('failing', '?rule=failureRate')
    await page.wrapper.find('input[aria-label="Threshold"]').setValue('5 %')
    await page.wrapper.find('input[aria-label="Where it is over"]').setValue('much')
    expect(button('Save').attributes('disabled')).toBeDefined()
    expect(text()).toContain('not above the threshold')
    expect(page.wrapper.findAll('.variants button')).toHaveLength(0)
    await page.wrapper.find('input[aria-label="Where it is over"]').setValue('1 %')
    await page.wrapper.find('input[aria-label="Threshold"]').setValue('100 %')
    expect(text()).toContain('The threshold is a figure such as')
  })

  it('makes a rule for one type and opens it', async () => {
    await open('failing', '?rule=new')
    expect(text()).toContain('type the name of one that is not in the list')
    await button('Create rule').trigger('click')
    await flushPromises()
    expect(callsOf('alerts.saveRule')[0]).toMatchObject({
      ruleId: null,
      rule: { signal: 'oldestMs', type: 'import.medical' }
    })
    expect(query()['rule']).toMatch(/^rule-/)
  })

  it('switches a rule off with its switch, without opening it', async () => {
    await open('failing')
    await page.wrapper.findAll('.rules .n-switch')[3]!.trigger('click')
    await flushPromises()
    expect(callsOf('alerts.saveRule')[0]).toMatchObject({ rule: { enabled: false } })
    expect(query()['rule']).toBeUndefined()
    expect(rows().at(-1)).toContain('Off')
  })

  it('acknowledges with a note by key, and says who has it', async () => {
    await open('failing', '?rule=failureRate')
    await press('a')
    const named = [...document.querySelectorAll('[role=dialog] .firing li')].map((one) => one.textContent)
    expect(named).toEqual(expect.arrayContaining(['Failure rate', 'Oldest waiting']))
    await submit({ Note: 'lab gateway is down' })
    expect(callsOf('alerts.acknowledge')).toEqual([
      { connectionId: 'clinic-main', incidentId: 'now', note: 'lab gateway is down' }
    ])
    expect(text()).toContain('3 acknowledged')
    await press('Enter')
    expect(query()['incident']).toBe('now')
    expect(page.wrapper.find('.side').text()).toContain('Acknowledged by ada')
  })

  it('silences one rule or all, with an end and a reason, and ends that again', async () => {
    await open('failing', '?rule=oldestMs')
    await press('m')
    expect(query()['silence']).toBe('oldestMs')
    await submit({})
    expect(callsOf('alerts.silence')).toEqual([]) // a reason is needed
    await submit({ Reason: 'planned' })
    expect(callsOf('alerts.silence')).toEqual([
      { connectionId: 'clinic-main', ruleId: 'oldestMs', durationMs: 3_600_000, reason: 'planned' }
    ])
    expect(query()['silence']).toBeUndefined()
    await page.router.push('/c/clinic-main/alerts?silence=webhook')
    await flushPromises()
    expect(document.querySelector('[role=dialog] h2')?.textContent).toMatch(/^Silence Failure rate · webhook.deliver$/)
    await press('Escape')
    await button('Silence all…').trigger('click')
    await flushPromises()
    await submit({ Reason: 'migration' })
    expect(text()).toContain('All alerts are silent until')
    await page.wrapper.find('.bar button').trigger('click')
    await flushPromises()
    expect(text()).not.toContain('All alerts are silent until')
  })

  it('leads from what happened to the Overview at that moment', async () => {
    await open('failing')
    const first = page.wrapper.find('.event')
    expect(first.text()).toContain('Worker heartbeat fired')
    expect(first.find('a').attributes('href')).toBe(`/c/clinic-main/overview?at=${start - 132_000}`)
    await first.trigger('click')
    await flushPromises()
    expect(query()['incident']).toBe('now')
    await press('Enter')
    expect(page.router.currentRoute.value.name).toBe('overview')
  })

  it('finds an incident that is older than the lanes go back, and says when there is none', async () => {
    await open('failing', '?incident=spell-2')
    expect(page.wrapper.find('.side h3').text()).toContain('Incident since')
    expect(page.wrapper.find('.lanes').text()).not.toContain('spell')
    page.wrapper.unmount()
    await open('failing', '?incident=nonsense')
    expect(page.wrapper.find('.side').text()).toContain('There is no such incident')
  })

  it('walks through the rules, and through the incidents while one is open', async () => {
    await open('failing')
    await press('j')
    const second = query()['rule']
    await press('j')
    expect(query()['rule']).not.toBe(second)
    await press('i')
    expect(query()['incident']).toBe('now')
    await press('j')
    expect(query()['incident']).toBe('claim')
    await press('Escape')
    expect(query()).toEqual({})
  })

  it('makes a message that could not be delivered visible, with what the receiver said', async () => {
    await open('failing')
    expect(page.wrapper.find('.bar.warn').text()).toContain('on-call could not be told: 503 Service Unavailable')
    await page.wrapper.find('.bar.warn button').trigger('click')
    await flushPromises()
    expect(page.wrapper.find('.notifiers').text()).toContain('last message failed')
  })

  it('says that a notifier is told of nothing while its address is not known, and leads to where it is entered', async () => {
    await open('failing', '?rule=failureRate')
    expect(page.wrapper.find('.tell').text()).not.toContain('address needed')
    const journal = { name: 'journal', kind: 'webhook', format: 'json', template: '', enabled: true } as const
    await useAlertsStore().saveNotifier({ ...journal, id: 'journal', address: null, keepAddress: 'session' })
    await flushPromises()
    expect(page.wrapper.find('.tell').text()).toContain('journal (address needed)')
    const bar = page.wrapper.findAll('.bar').find((one) => one.text().includes('journal is told of nothing'))!
    await bar.find('button').trigger('click')
    await flushPromises()
    expect(query()['notifier']).toBe('journal')
    expect(bar.exists()).toBe(true)
    await useAlertsStore().saveNotifier({ ...journal, id: 'journal', address: 'https://a.example/x' })
    await flushPromises()
    expect(text()).not.toContain('is told of nothing')
  })

  it('moves with an event, and asks for values that no event brings', async () => {
    await open('failing')
    const state = page.app.alerts['clinic-main']!.state()
    dispatch({ kind: 'alerts', alerts: { ...state, rules: state.rules.slice(0, 2) } })
    await flushPromises()
    expect(rows()).toHaveLength(2)
    const before = callsOf('alerts.get').length
    const { readingAt } = await import('@/testing/demo-queue.ts')
    const reading = readingAt(makeScene('failing', start).queues['clinic-main']!, start + 6_000)
    dispatch({ kind: 'tick', tick: { connectionId: 'clinic-main', seq: 2, reading, points: [] } })
    await flushPromises()
    expect(callsOf('alerts.get').length).toBe(before + 1)
  })

  it('says why a rule has no figure: for good in another application’s table, or for now', async () => {
    await open('failing', '?rule=poolUse')
    const { readingAt } = await import('@/testing/demo-queue.ts')
    const { readingOfTable } = await import('@/testing/foreign.ts')
    const table = readingOfTable(readingAt(makeScene('failing', start).queues['clinic-main']!, start + 6_000))
    const limits = [...table.limits, { probe: 'oldest', reason: 'plan' as const, index: null }]
    const reading = { ...table, limits }
    const state = page.app.alerts['clinic-main']!.state()
    const rules = state.rules.map((one) => ({ ...one, state: 'unknown' as const, value: null, silencedUntil: null }))
    dispatch({ kind: 'tick', tick: { connectionId: 'clinic-main', seq: 2, reading, points: [] } })
    await flushPromises()
    dispatch({ kind: 'alerts', alerts: { ...state, rules } })
    await flushPromises()
    const titleOf = (name: string): string | undefined =>
      page.wrapper
        .findAll('.rules tbody tr')
        .find((row) => row.text().includes(name))!
        .find('td span.clip')
        .attributes('title')
    expect(titleOf('Pool full')).toBe('This rule cannot fire here. Its figure is not known: the table has no workers.')
    expect(titleOf('Oldest waiting')).toBe('Oldest waiting is held back now: would read too much.')
    expect(titleOf('Monitoring blind')).toBeUndefined()
    expect(page.wrapper.find('.editor .means').text()).toBe(titleOf('Pool full'))
  })

  it('says that nothing has fired where nothing has', async () => {
    await open('quiet')
    expect(text()).toContain('Nothing has fired')
    expect(rows()).toHaveLength(11)
  })

  it('has its shape while it waits, and says why when there is nothing', async () => {
    await open('failing', '', 'alerts.get')
    expect(page.wrapper.find('.skeleton').exists()).toBe(true)
    page.wrapper.unmount()
    page = await mountPage(
      AlertsPage,
      makeScene('failing', start),
      '/c/clinic-main/alerts',
      () => start,
      (app) => {
        app.gate = (path) => {
          if (path === 'alerts.get') throw problemError(refused)
        }
      }
    )
    expect(page.wrapper.find('.problem').text()).toContain('refused')
    page.app.gate = () => undefined
    await button('Try again').trigger('click')
    await flushPromises()
    expect(rows()).toHaveLength(12)
  })
})
