import { createPinia, setActivePinia } from 'pinia'
import { beforeEach, describe, expect, it } from 'vitest'
import { FakeApp, problemError } from '@/testing/fake-client.ts'
import { makeScene, refused } from '@/testing/scenes.ts'
import { provideClient } from '@/transport/client.ts'
import { noFilters } from './task-filters.ts'
import { pageSize, useTaskListStore } from './task-list-store.ts'

const now = Date.parse('2026-03-12T14:00:00Z')
let app: FakeApp
const queue = 'clinic-main'
const asked = (): number => app.calls.filter((call) => call.path === 'tasks.list').length

beforeEach(() => {
  setActivePinia(createPinia())
  app = new FakeApp(makeScene('healthy', now), () => now)
  provideClient(app.client)
})

async function opened(filters = noFilters): Promise<ReturnType<typeof useTaskListStore>> {
  const list = useTaskListStore()
  await list.open(queue, filters)
  return list
}

describe('the list', () => {
  it('reads one page, then the next by its cursor, each row once', async () => {
    const list = await opened()
    await list.loadMore()
    await list.loadMore()
    expect(list.rows).toHaveLength(3 * pageSize)
    expect(new Set(list.rows.map((row) => row.id)).size).toBe(3 * pageSize)
    expect(app.calls.at(-1)!.input).toMatchObject({ cursor: list.rows[2 * pageSize - 1]!.id })
  })

  it('asks for one page at a time, however often the end is reached', async () => {
    const list = await opened()
    await Promise.all([list.loadMore(), list.loadMore(), list.loadMore()])
    expect(list.rows).toHaveLength(2 * pageSize)
  })

  it('stops at the last page', async () => {
    const list = await opened({ ...noFilters, search: 'batch-4007' })
    expect(list.rows).toHaveLength(1)
    expect(list.hasMore).toBe(false)
    const before = asked()
    await list.loadMore()
    expect(asked()).toBe(before)
  })

  it('does not move when tasks arrive: it counts them until they are shown', async () => {
    const list = await opened()
    const before = list.rows.map((row) => row.id)
    app.tasks[queue]!.move(now, 3)
    await list.refresh(0, 30)
    expect(list.rows.map((row) => row.id)).toEqual(before)
    expect(list.unseen).toHaveLength(3)
    await list.reload()
    expect(list.rows[3]!.id).toBe(before[0])
    expect(list.unseen).toHaveLength(0)
  })

  it('says when there may be more new tasks than it has read', async () => {
    const list = await opened()
    app.tasks[queue]!.move(now, 2 * pageSize)
    await list.refresh(0, 30)
    expect(list.unseenIsBounded).toBe(true)
  })

  it('changes a row in place, also on a page far down', async () => {
    const list = await opened()
    await list.loadMore()
    const deep = list.rows.slice(pageSize).find((row) => row.state === 'QUEUED')!
    app.tasks[queue]!.act(deep.id, 'pause', now)
    await list.refresh(0, 20)
    expect(list.rows.find((row) => row.id === deep.id)!.state).toBe('QUEUED')
    await list.refresh(pageSize + 10, pageSize + 40)
    expect(list.rows.find((row) => row.id === deep.id)!.state).toBe('PAUSED')
  })

  it('keeps a row that left the filters, and names it', async () => {
    const list = await opened({ ...noFilters, states: ['QUEUED'] })
    const first = list.rows[0]!
    app.tasks[queue]!.act(first.id, 'cancel', now)
    await list.refresh(0, 20)
    expect(list.rows[0]!.id).toBe(first.id)
    expect([...list.left]).toEqual([first.id])
  })

  it('shows what arrives at once while it is empty', async () => {
    const list = await opened({ ...noFilters, types: ['sleep'] })
    expect(list.rows).toHaveLength(0)
    await app.client.tasks.submit({ connectionId: queue, task: { type: 'sleep', payload: '{}' } })
    await list.refresh(0, 0)
    expect(list.rows).toHaveLength(1)
  })

  it('drops the answer to a question that is no longer asked', async () => {
    const list = useTaskListStore()
    let release: () => void = () => undefined
    app.gate = () => new Promise<void>((resolve) => (release = resolve))
    const slow = list.open(queue, noFilters)
    app.gate = () => undefined
    await list.open(queue, { ...noFilters, states: ['PAUSED'] })
    release()
    await slow
    expect(list.rows.length).toBeGreaterThan(0)
    expect(list.rows.every((row) => row.state === 'PAUSED')).toBe(true)
  })

  it('shows what is new when its page is opened again, with the rows there meanwhile', async () => {
    const list = await opened()
    const before = list.rows[0]!.id
    app.tasks[queue]!.move(now, 3)
    await list.open(queue, noFilters)
    expect(list.rows[0]!.id).toBe(before)
    list.leave()
    const opening = list.open(queue, noFilters)
    expect(list.rows[0]!.id).toBe(before)
    await opening
    expect(list.rows[3]!.id).toBe(before)
    expect(list.unseen).toHaveLength(0)
  })

  it('keeps its rows and tells why when the database does not answer', async () => {
    const list = await opened()
    app.gate = () => {
      throw problemError(refused)
    }
    await list.refresh(0, 20)
    expect(list.rows).toHaveLength(pageSize)
    expect(list.problem?.code).toBe('CONNECTION_REFUSED')
    app.gate = () => undefined
    await list.refresh(0, 20)
    expect(list.problem).toBeNull()
  })

  it('forgets the rows of another connection at once', async () => {
    const list = await opened()
    app.gate = () => new Promise(() => undefined)
    void list.open('billing', noFilters)
    expect(list.rows).toHaveLength(0)
    expect(list.loaded).toBe(false)
  })
})
