import { afterEach, expect, it } from 'vitest'
import { nextTick } from 'vue'
import type { ProbeLimit, QueueReading } from '@contract'
import { useMetricsStore } from '@/state/metrics-store.ts'
import { mountPage, type MountedPage } from '@/testing/mount-page.ts'
import { makeScene } from '@/testing/scenes.ts'
import StatusBar from './StatusBar.vue'

const quiet: QueueReading = {
  at: 0,
  depth: [],
  oldest: [],
  flow: [],
  duration: null,
  pickup: null,
  workers: [],
  server: null,
  schedulesLate: null,
  costMs: 1,
  costRows: null,
  limits: []
}
const scene = makeScene('healthy', 0)
let page: MountedPage
afterEach(() => page.wrapper.unmount())

/** The bar after these readings of the open connection, one after the other. */
async function show(...readings: Partial<QueueReading>[]): Promise<string> {
  page = await mountPage(StatusBar, scene, '/c/clinic-main/tasks', () => 0)
  for (const changes of readings) {
    useMetricsStore().readings.set('clinic-main', { ...quiet, ...changes })
    await nextTick()
  }
  return page.wrapper.find('footer').text()
}

it('says what share of the time watching takes, and how many rows a minute', async () => {
  const text = await show({ at: 10_000, costMs: 900 }, { at: 12_000, costMs: 4, costRows: 100 })
  expect(text).toMatch(/monitoring costs this server 0\.2\s%/u)
  expect(text).toContain('3k rows/min')
})

it('names what is held back and why, with the index that would help', async () => {
  const index = 'CREATE INDEX taskdeck_task_created ON taskdeck_task (created_at, type)'
  const limits: ProbeLimit[] = [
    { probe: 'submitted', reason: 'plan', index },
    { probe: 'workers', reason: 'rights', index: null }
  ]
  const text = await show({ at: 10_000, limits })
  expect(text).toContain('held back: In /min (would read too much), Workers (no right to read)')
  expect(page.wrapper.find('.held').attributes('title')).toContain(`\n${index};`)
})

it('does not warn of what another application’s table never says', async () => {
  const limits: ProbeLimit[] = [{ probe: 'workers', reason: 'schema', index: null, why: 'it has none' }]
  await show({ at: 10_000, limits })
  expect(page.wrapper.find('.held').exists()).toBe(false)
})
