import { createPinia, setActivePinia } from 'pinia'
import { beforeEach, describe, expect, it } from 'vitest'
import { refused } from '@/testing/scenes.ts'
import { dispatch } from './feed.ts'
import { useAppStore } from './app-store.ts'
import { useChangesStore } from './changes-store.ts'
import { useLocalWorkerStore } from './local-worker-store.ts'

describe('dispatch', () => {
  beforeEach(() => setActivePinia(createPinia()))

  it('keeps a notice once, until it is dismissed', () => {
    dispatch({ kind: 'notice', problem: refused })
    dispatch({ kind: 'notice', problem: { ...refused } })
    const app = useAppStore()
    expect(app.notices).toHaveLength(1)
    app.dismissNotice(app.notices[0]!)
    expect(app.notices).toHaveLength(0)
  })

  it('says which moment the reader is sent to', () => {
    dispatch({ kind: 'show', connectionId: 'billing', at: 7 })
    expect(useAppStore().shown).toEqual({ connectionId: 'billing', at: 7 })
  })

  it('tells lists which tasks changed', () => {
    dispatch({ kind: 'tasksChanged', connectionId: 'local', ids: ['7'] })
    expect(useChangesStore().lastTasks).toEqual({ connectionId: 'local', ids: ['7'] })
  })

  it('keeps the last thousand lines of the worker log', () => {
    const line = (n: number) => ({ seq: n + 1, at: n, level: 'info' as const, message: String(n), taskId: null })
    dispatch({ kind: 'workerLog', lines: Array.from({ length: 990 }, (_, n) => line(n)) })
    dispatch({ kind: 'workerLog', lines: Array.from({ length: 20 }, (_, n) => line(990 + n)) })
    const { log } = useLocalWorkerStore()
    expect(log).toHaveLength(1_000)
    expect(log.at(-1)?.message).toBe('1009')
  })
})
