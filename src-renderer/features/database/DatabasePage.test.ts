import { flushPromises } from '@vue/test-utils'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { DatabaseEvent } from '@contract'
import { demoServer, type DatabaseScene } from '@/testing/demo-database.ts'
import { problemError } from '@/testing/fake-client.ts'
import { mountPage, type MountedPage } from '@/testing/mount-page.ts'
import { makeScene, refused, type SceneName } from '@/testing/scenes.ts'
import DatabasePage from './DatabasePage.vue'

// A whole page is mounted for each test: the first one is slow on a busy machine.
vi.setConfig({ testTimeout: 20_000 })
const now = Date.parse('2026-03-12T14:00:00Z')
let page: MountedPage | undefined
afterEach(() => page?.wrapper.unmount())

interface Opened extends MountedPage {
  readonly send: (event: DatabaseEvent) => Promise<void>
  readonly end: (error?: Error) => Promise<void>
  readonly signals: AbortSignal[]
}

/** The page on a stream of looks that the test sends. */
async function open(first: DatabaseEvent | null, scene: SceneName = 'healthy', id = 'clinic-main'): Promise<Opened> {
  const signals: AbortSignal[] = []
  const waiting: DatabaseEvent[] = first ? [first] : []
  let [wake, ending]: [() => void, { error?: Error } | undefined] = [() => undefined, undefined]
  async function* looks(signal: AbortSignal): AsyncGenerator<DatabaseEvent> {
    signals.push(signal)
    signal.addEventListener('abort', () => wake())
    while (!signal.aborted) {
      const next = waiting.shift()
      if (next) yield next
      else if (ending?.error) throw ending.error
      else if (ending) return
      else await new Promise<void>((resolve) => (wake = resolve))
    }
  }
  page = await mountPage(
    DatabasePage,
    makeScene(scene, now),
    `/c/${id}/database`,
    () => now,
    (app) => {
      app.client.database.watch = ((_: unknown, { signal }: { signal: AbortSignal }) =>
        Promise.resolve(looks(signal))) as never
    }
  )
  await flushPromises()
  return {
    ...page,
    signals,
    send: async (event) => {
      waiting.push(event)
      wake()
      await flushPromises()
    },
    end: async (error) => {
      ending = error ? { error } : {}
      wake()
      await flushPromises()
    }
  }
}
const seen = (scene: DatabaseScene): DatabaseEvent => ({ status: 'seen', health: demoServer(scene, now) })

describe('the database page', () => {
  it('says that it waits before the first look, and shows no zero', async () => {
    const { wrapper } = await open(null)
    expect(wrapper.find('[aria-busy=true]').exists()).toBe(true)
    expect(wrapper.text()).not.toContain('0')
  })

  it('says who blocks whom, and opens the task that is waited for', async () => {
    const { wrapper, router } = await open(seen('waiting'))
    const status = wrapper.find('[role=status]').text()
    expect(status).toContain('3 sessions wait for locks, the longest for 41\u2009s:')
    expect(status).toContain('reporting@bi-02 (session 9041)')
    expect(wrapper.find('.blocker').text()).toContain('idle in its transaction')
    expect(wrapper.findAll('.wait').map((row) => row.find('.session').text())).toEqual([
      '#812imp-03',
      '#815taskdeck@clinic-worker-3one of 3 workers',
      '#822taskdeck@10.20.4.11'
    ])
    await wrapper.find('.wait .task').trigger('click')
    await flushPromises()
    expect(router.currentRoute.value.fullPath).toBe('/c/clinic-main/tasks?task=48211720')
  })

  it('is walked with j and k, and Enter opens the task', async () => {
    const { wrapper, router } = await open(seen('waiting'))
    const press = async (key: string): Promise<void> => {
      document.body.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }))
      await flushPromises()
    }
    await press('j')
    await press('j')
    expect(wrapper.find('.wait.is-selected').text()).toContain('#815')
    await press('Enter')
    expect(router.currentRoute.value.fullPath).toBe('/c/clinic-main/tasks?task=48211703')
  })

  it('says which grant would show what the account may not see, once', async () => {
    const { wrapper } = await open(seen('blind'))
    const grants = wrapper.findAll('.gap code').map((code) => code.text())
    expect(grants).toEqual([
      "GRANT PROCESS ON *.* TO 'taskdeck_ro'@'%'",
      "GRANT REPLICATION CLIENT ON *.* TO 'taskdeck_ro'@'%'",
      "GRANT SELECT ON mysql.innodb_index_stats TO 'taskdeck_ro'@'%'"
    ])
    expect(wrapper.text()).toContain('37 more sessions of other accounts')
    expect(wrapper.find('.numbers').text()).toContain('–')
  })

  it('shows a broken plan with what mends it', async () => {
    const health = demoServer('well', now)
    const plans = health.plans.map((plan) => ({
      ...plan,
      ...(plan.name === 'claim' && {
        ...{ verdict: 'bad' as const, advice: 'indexMissing' as const, steps: [] },
        remedy: 'ALTER TABLE taskdeck_task ADD KEY taskdeck_task_claim (claim_rank, type, run_at, id, state)'
      })
    }))
    const { wrapper } = await open({ status: 'seen', health: { ...health, plans } })
    expect(wrapper.find('[role=status]').text()).toContain("The claim's index is missing.")
    expect(wrapper.find('.plan.bad .remedy').text()).toContain('ADD KEY taskdeck_task_claim')
    expect(wrapper.findAll('.plan pre')).toHaveLength(1)
    await wrapper.find('.plan.good .head').trigger('click')
    expect(wrapper.findAll('.plan pre')).toHaveLength(2)
  })

  it('keeps the last picture when a look fails, and says what failed', async () => {
    const { wrapper, send } = await open(seen('well'))
    await send({ status: 'failed', problem: refused, nextTryAt: now + 5_000 })
    expect(wrapper.find('[role=alert]').text()).toContain('The picture below is')
    expect(wrapper.find('.scroll.stale').text()).toContain('Who waits for whom')
    await send(seen('well'))
    expect(wrapper.find('[role=alert]').exists()).toBe(false)
  })

  it('says what failed when there is no picture, and looks again when asked to', async () => {
    const { wrapper, end, signals } = await open(null)
    await end(problemError(refused))
    expect(wrapper.find('[role=alert]').text()).toContain('db-primary:3306 refused the connection.')
    await wrapper.find('[role=alert] button').trigger('click')
    await flushPromises()
    expect(signals).toHaveLength(2)
  })

  it('shows no plans where nothing of Taskdeck claims', async () => {
    const { wrapper, send } = await open(seen('well'))
    expect(wrapper.text()).toContain('Plan of the claim')
    await send({ status: 'seen', health: { ...demoServer('well', now), plans: [] } })
    expect(wrapper.text()).not.toContain('Plan of the claim')
    expect(wrapper.text()).toContain('Tables and indexes')
  })

  it('stops looking when it is left', async () => {
    const { wrapper, signals } = await open(seen('well'))
    expect(signals[0]?.aborted).toBe(false)
    wrapper.unmount()
    page = undefined
    expect(signals[0]?.aborted).toBe(true)
  })

  it('looks at nothing while the connection waits for its password', async () => {
    const { wrapper, signals } = await open(seen('well'), 'locked')
    expect(signals).toHaveLength(0)
    expect(wrapper.text()).toContain('clinic-main needs its password')
  })
})

it('the page of a file shows its sizes, its log and its plans', async () => {
  page = await mountPage(DatabasePage, makeScene('healthy', now), '/c/local/database', () => now)
  await flushPromises()
  const text = page.wrapper.text()
  expect(text).toContain('Write-ahead log')
  expect(text).toContain('18.4\u2009MiB')
  expect(page.wrapper.findAll('.plan.good')).toHaveLength(2)
})
