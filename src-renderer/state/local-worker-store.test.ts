import { createPinia, setActivePinia } from 'pinia'
import { beforeEach, expect, it } from 'vitest'
import type { WorkerLogLine } from '@contract'
import { useLocalWorkerStore } from './local-worker-store.ts'

beforeEach(() => setActivePinia(createPinia()))

const line = (seq: number): WorkerLogLine => ({ seq, at: 0, level: 'info', message: `line ${seq}`, taskId: null })

it('shows a line once, although the log that was asked for had it and an event tells it again', () => {
  const worker = useLocalWorkerStore()
  worker.appendLog([line(1), line(2)])
  worker.appendLog([line(2), line(3)])
  expect(worker.log.map(({ seq }) => seq)).toEqual([1, 2, 3])
})
