import { createPinia, setActivePinia } from 'pinia'
import { beforeEach, describe, expect, it } from 'vitest'
import { FakeApp } from '@/testing/fake-client.ts'
import { pointsAt, readingAt } from '@/testing/demo-queue.ts'
import { makeScene } from '@/testing/scenes.ts'
import { provideClient } from '@/transport/client.ts'
import { useMetricsStore } from './metrics-store.ts'

const start = 1_770_000_000_000
const scene = makeScene('healthy', start)
const queue = scene.queues['clinic-main']!

function tickAt(
  seq: number,
  at: number,
  connectionId = 'clinic-main'
): Parameters<ReturnType<typeof useMetricsStore>['onTick']>[0] {
  return { connectionId, seq, reading: readingAt(queue, at), points: pointsAt(queue, at) }
}

describe('useMetricsStore', () => {
  let app: FakeApp
  let store: ReturnType<typeof useMetricsStore>
  const snapshots = (): number => app.calls.filter((call) => call.path === 'overview.snapshot').length

  beforeEach(async () => {
    setActivePinia(createPinia())
    app = new FakeApp(scene, () => start)
    provideClient(app.client)
    store = useMetricsStore()
    await store.watch('clinic-main', 3_600_000)
  })

  it('asks one snapshot when it starts to watch', () => {
    expect(snapshots()).toBe(1)
    expect(store.ring?.seq).toBe(1)
    expect(store.readings.get('clinic-main')?.at).toBe(start)
  })

  it('appends the tick that follows without asking again', async () => {
    const before = store.ring!.times.length
    await store.onTick(tickAt(2, start + 20_000))
    expect(store.ring?.times.at(-1)).toBe(start + 20_000)
    expect(store.ring!.times.length).toBeGreaterThanOrEqual(before - 2)
    expect(snapshots()).toBe(1)
  })

  it('asks a snapshot when a tick is missing', async () => {
    await store.onTick(tickAt(4, start + 6_000))
    expect(snapshots()).toBe(2)
  })

  it('does not ask again for the tick that its snapshot has already', async () => {
    await store.onTick(tickAt(1, start))
    expect(snapshots()).toBe(1)
  })

  it('keeps the newest reading of connections that nobody looks at, without a snapshot', async () => {
    await store.onTick(tickAt(7, start + 2_000, 'billing'))
    expect(store.readings.get('billing')?.at).toBe(start + 2_000)
    expect(store.ring?.connectionId).toBe('clinic-main')
    expect(snapshots()).toBe(1)
  })

  it('shows the answer to the last question only', async () => {
    const first = store.watch('clinic-main', 900_000)
    const second = store.watch('billing', 3_600_000)
    await Promise.all([first, second])
    expect(store.ring?.connectionId).toBe('billing')
    expect(store.ring?.rangeMs).toBe(3_600_000)
  })

  it('keeps the picture and says why when a snapshot fails', async () => {
    app.client.overview.snapshot = () => Promise.reject(new Error('broken'))
    await store.onTick(tickAt(9, start + 2_000))
    expect(store.problem?.code).toBe('BUG')
    expect(store.ring).not.toBeNull()
  })
})
