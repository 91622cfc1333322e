import { expect, it, onTestFinished } from 'vitest'
import { newTask, systemClock } from '../../kernel/index.ts'
import type { WorkerStatus } from '../pool/index.ts'
import type { TaskStore } from '../task-store.ts'
import { openMeter } from './index.ts'

it('shows each worker of a process on its own port, and what the process counts on both', async () => {
  const store = {
    read: () => Promise.resolve({ depth: [], oldest: [] }),
    submit: () => Promise.resolve([{ status: 'created' }])
  } as unknown as TaskStore
  const meter = openMeter({ store, clock: systemClock })
  const scraperOf = async (slots: number, running: number, database: string) => {
    const worker = { status: () => ({ slots, running, database }) as WorkerStatus }
    const server = await meter.serve({ worker, port: 0, onProblem: () => undefined })
    onTestFinished(() => server.stop())
    return async () => (await (await fetch(server.url)).text()).split('\n')
  }
  const first = await scraperOf(2, 1, 'ok')
  const second = await scraperOf(5, 0, 'LOCK_TIMEOUT')
  await meter.counted(store).submit([newTask.parse({ type: 'mail', payload: '{}' })])
  const submitted = 'taskdeck_tasks_submitted_total{type="mail"} 1'
  const worker = (slots: number, running: number, up: number): string[] => [
    `taskdeck_worker_slots ${slots}`,
    `taskdeck_worker_tasks_running ${running}`,
    `taskdeck_worker_database_up ${up}`
  ]
  expect(await first()).toEqual(expect.arrayContaining([...worker(2, 1, 1), submitted]))
  expect(await second()).toEqual(expect.arrayContaining([...worker(5, 0, 0), submitted]))
})
