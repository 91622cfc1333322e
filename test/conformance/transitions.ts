import { describe, expect, it } from 'vitest'
import {
  nextState,
  taskEvents,
  taskStates,
  transitions,
  type TaskEvent,
  type TaskState
} from '../../src-main/kernel/index.ts'
import type { QueueUnderTest } from './queue-under-test.ts'
import { makeTimely, perform, reachState } from './reach-state.ts'

/** Settling again with the fence that ended the attempt is a repeat, accepted without effect. */
const settledBy: Partial<Record<TaskState, TaskEvent>> = {
  SUCCESS: 'succeed',
  PARTIAL_SUCCESS: 'succeedPartially',
  FAILED: 'fail',
  RETRY_WAIT: 'retryLater'
}
const illegal = taskStates.flatMap((from) =>
  taskEvents.filter((event) => nextState(from, event) === undefined).map((event) => ({ from, event }))
)

/** The kernel's table of transitions, each by the operation that causes it. */
export function describeTransitions(queue: QueueUnderTest): void {
  /** Without the states of other tasks. */
  const ownDetail = async (taskId: string): Promise<object> => {
    const { waitsFor, ...detail } = await queue.detail(taskId)
    return { ...detail, waitsFor: waitsFor.map((one) => one.taskId) }
  }

  describe('transitions', () => {
    it.each(taskStates)('brings a task to %s', async (state) => {
      expect(await queue.state(await reachState(queue, state))).toBe(state)
    })

    it.each(transitions)('$event leads from $from to $to', async ({ event, from, to }) => {
      const taskId = await reachState(queue, from)
      await makeTimely(queue, taskId, event)
      expect(await perform(queue, taskId, event)).toBe(true)
      expect(await queue.state(taskId)).toBe(to)
    })

    it.each(illegal)('$event is refused in $from and changes nothing', async ({ event, from }) => {
      const taskId = await reachState(queue, from)
      await makeTimely(queue, taskId, event)
      const before = await ownDetail(taskId)
      expect(await perform(queue, taskId, event)).toBe(settledBy[from] === event)
      expect(await ownDetail(taskId)).toEqual(before)
    })

    it('tells an operator from where to where a task went, or why not', async () => {
      const taskId = await queue.submit()
      expect(await queue.store.act(taskId, 'pause', 'ada')).toEqual({ status: 'done', from: 'QUEUED', to: 'PAUSED' })
      expect(await queue.store.act(taskId, 'retry', 'ada')).toEqual({ status: 'refused', state: 'PAUSED' })
    })

    it.each(['18446744073709551615', '9223372036854775808', '987654321'])('reports task %s as missing', async (id) => {
      expect(await queue.store.act(id, 'cancel', 'ada')).toEqual({ status: 'missing' })
    })

    it('lets one of two racing operators win', async () => {
      const other = await queue.open()
      for (let round = 0; round < 10; round++) {
        const taskId = await queue.submit()
        const results = await Promise.all([
          queue.store.act(taskId, 'cancel', 'ada'),
          other.act(taskId, 'cancel', 'ada')
        ])
        expect(results.map((r) => r.status).sort()).toEqual(['done', 'refused'])
      }
    })
  })
}
