import { createPinia, setActivePinia } from 'pinia'
import { beforeEach, describe, expect, it } from 'vitest'
import { FakeApp } from '@/testing/fake-client.ts'
import { makeScene } from '@/testing/scenes.ts'
import { provideClient } from '@/transport/client.ts'
import { useAlertsStore } from './alerts-store.ts'

const start = 1_770_000_000_000

describe('useAlertsStore', () => {
  let app: FakeApp
  let store: ReturnType<typeof useAlertsStore>
  const asked = (): unknown[] => app.calls.filter((call) => call.path === 'alerts.get').map((call) => call.input)
  const settled = (): Promise<void> => new Promise((resolve) => setTimeout(resolve))

  beforeEach(() => {
    setActivePinia(createPinia())
    app = new FakeApp(makeScene('failing', start), () => start)
    provideClient(app.client)
    store = useAlertsStore()
  })

  it('asks once for each connection, and anew for a new carrier', async () => {
    store.askFor(['clinic-main', 'billing'])
    store.askFor(['clinic-main', 'billing'])
    await settled()
    expect(asked()).toHaveLength(2)
    expect(store.states.get('clinic-main')?.open).toHaveLength(1)
    store.restart()
    store.askFor(['clinic-main', 'billing'])
    expect(asked()).toHaveLength(4)
  })

  it('does not ask for what an event has told, and forgets what is gone', () => {
    store.onEvent(app.alerts['billing']!.state())
    store.askFor(['billing'])
    expect(asked()).toEqual([])
    store.askFor(['clinic-main'])
    expect([...store.states.keys()]).toEqual([])
  })

  it('keeps an event that came while it waited for an older answer', async () => {
    let answer: () => void = () => undefined
    app.gate = () => new Promise((resolve) => (answer = resolve))
    const refreshed = store.refresh('clinic-main')
    store.onEvent({ ...app.alerts['clinic-main']!.state(), rules: [] })
    answer()
    await refreshed
    expect(store.states.get('clinic-main')?.rules).toEqual([])
  })

  it('says which rule it has made', async () => {
    await store.refresh('clinic-main')
    const rule = store.states.get('clinic-main')!.rules[0]!.rule
    const { id: _id, connectionId: _connection, isDefault: _default, ...draft } = rule
    expect(await store.saveRule('clinic-main', null, { ...draft, type: 'mail.send' })).toMatch(/^rule-/)
    expect(await store.saveRule('clinic-main', rule.id, draft)).toBe(rule.id)
  })
})
