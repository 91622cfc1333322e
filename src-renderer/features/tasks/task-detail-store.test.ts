import { createPinia, setActivePinia } from 'pinia'
import { beforeEach, describe, expect, it } from 'vitest'
import { FakeApp, problemError } from '@/testing/fake-client.ts'
import { makeScene, refused } from '@/testing/scenes.ts'
import { provideClient } from '@/transport/client.ts'
import { useTaskDetailStore } from './task-detail-store.ts'

const start = Date.parse('2026-03-12T14:00:00Z')
const queue = 'clinic-staging'
let app: FakeApp
let now = start

beforeEach(() => {
  now = start
  setActivePinia(createPinia())
  app = new FakeApp(makeScene('healthy', start), () => now)
  provideClient(app.client)
})
const taskIn = (state: 'RUNNING' | 'FAILED' | 'SUCCESS', nth = 0): string =>
  app.tasks[queue]!.list({ filter: { states: [state] } }).rows[nth]!.id
const gets = (): number => app.calls.filter((call) => call.path === 'tasks.get').length

describe('the open task', () => {
  it('has its log, which grows by what is new and repeats nothing', async () => {
    const detail = useTaskDetailStore()
    await detail.open(queue, taskIn('RUNNING'))
    const before = detail.log.length
    expect(before).toBeGreaterThan(0)
    now += 6_000
    await detail.follow()
    expect(detail.log.length).toBe(before + 3)
    expect(new Set(detail.log.map((line) => line.id)).size).toBe(detail.log.length)
  })

  it('that has ended is not read again with every tick', async () => {
    const detail = useTaskDetailStore()
    await detail.open(queue, taskIn('SUCCESS'))
    const before = gets()
    await detail.follow()
    expect(gets()).toBe(before)
  })

  it('is gone at once when another is opened, and a late answer does not bring it back', async () => {
    const detail = useTaskDetailStore()
    const [slowId, nextId] = [taskIn('RUNNING'), taskIn('RUNNING', 1)]
    let release: () => void = () => undefined
    app.gate = () => new Promise<void>((resolve) => (release = resolve))
    const slow = detail.open(queue, slowId)
    app.gate = () => undefined
    await detail.open(queue, nextId)
    release()
    await slow
    expect(detail.task?.id).toBe(nextId)
  })

  it('says that it does not exist', async () => {
    const detail = useTaskDetailStore()
    await detail.open(queue, '1')
    expect(detail.task).toBeNull()
    expect(detail.problem?.code).toBe('NOT_FOUND')
  })

  it('stays readable when only its log cannot be read', async () => {
    app.gate = (path) => {
      if (path === 'tasks.log') throw problemError(refused)
    }
    const detail = useTaskDetailStore()
    await detail.open(queue, taskIn('FAILED'))
    expect(detail.task?.state).toBe('FAILED')
    expect(detail.logProblem?.code).toBe('CONNECTION_REFUSED')
    expect(detail.problem).toBeNull()
  })

  it('gives each press of a button its own request id', async () => {
    const detail = useTaskDetailStore()
    const id = taskIn('FAILED')
    await detail.open(queue, id)
    expect(await detail.act('retry', '')).toMatchObject({ from: 'FAILED', to: 'QUEUED' })
    await detail.act('pause', '')
    const requests = app.calls.flatMap(({ path, input }) =>
      path === 'tasks.act' ? [(input as { requestId: string }).requestId] : []
    )
    expect(new Set(requests).size).toBe(2)
    expect(detail.acting).toBeNull()
  })
})
