import { describe, expect, it } from 'vitest'
import { AppError, systemClock, type Clock, type NewTask } from '../../kernel/index.ts'
import { sampleTasks } from './sample-tasks.ts'
import { SampleWorkload } from './sample-workload.ts'

const total = (kind: Parameters<typeof sampleTasks>[0], rounds: number): number =>
  Array.from({ length: rounds }, (_, round) => sampleTasks(kind, round, () => 0.5).length).reduce((a, b) => a + b, 0)

describe('sample tasks', () => {
  it.each([
    ['steady', 270],
    ['spike', 716],
    ['failing', 150],
    ['slow', 30]
  ] as const)('of %s are %i a minute', (kind, count) => {
    expect(total(kind, 60)).toBe(count)
  })

  it('are valid tasks of handlers that are built in, and say that they are samples', () => {
    for (const kind of ['steady', 'spike', 'failing', 'slow'] as const) {
      for (const task of [0, 1, 2].flatMap((round) => sampleTasks(kind, round, () => 0.9))) {
        expect(['sleep', 'flaky']).toContain(task.type)
        expect(task.owner).toBe('sample')
        expect(() => JSON.parse(task.payload) as unknown).not.toThrow()
      }
    }
  })
})

describe('sample workload', () => {
  /** Each pause ends when the test asks for the next round. */
  function setup(waiting: () => number, submit: (tasks: readonly NewTask[]) => Promise<void>) {
    let next: () => void = () => undefined
    const clock: Clock = {
      ...systemClock,
      random: () => 0.5,
      sleep: (_ms, signal) =>
        new Promise((resolve, reject) => {
          next = resolve
          signal?.addEventListener('abort', () => reject(new Error('aborted')), { once: true })
        })
    }
    const failures: unknown[] = []
    const workload = new SampleWorkload({ kind: 'spike', clock, waiting, submit, onFailure: (e) => failures.push(e) })
    const round = async (): Promise<void> => {
      next()
      await new Promise((resolve) => setImmediate(resolve))
    }
    return { workload, round, failures }
  }

  it('submits each round until it is stopped', async () => {
    const counts: number[] = []
    const { workload, round } = setup(
      () => 0,
      (tasks) => Promise.resolve(void counts.push(tasks.length))
    )
    await round()
    await round()
    await workload.stop()
    await round()
    expect(counts.slice(0, 2)).toEqual([300, 2])
    expect(counts.length).toBeLessThanOrEqual(3)
  })

  it('waits while its backlog is full', async () => {
    let submitted = 0
    const { workload, round } = setup(
      () => 1_999,
      () => Promise.resolve(void (submitted += 1))
    )
    await round()
    await workload.stop()
    expect(submitted).toBe(0)
  })

  it('goes on after a round that failed', async () => {
    const away = new AppError('CONNECTION_LOST', 'operational', 'away')
    let tries = 0
    const { workload, round, failures } = setup(
      () => 0,
      () => (++tries === 1 ? Promise.reject(away) : Promise.resolve())
    )
    await round()
    await round()
    await workload.stop()
    expect(tries).toBeGreaterThan(1)
    expect(failures).toEqual([away])
  })
})
