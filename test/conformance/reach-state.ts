import {
  operatorActions,
  type NewTaskInput,
  type OperatorAction,
  type TaskEvent,
  type TaskState
} from '../../src-main/kernel/index.ts'
import type { Settlement } from '../../src-main/queue/task-store.ts'
import { failure, type QueueUnderTest } from './queue-under-test.ts'

/** Brings a new task of type `t` into a state by real operations only; returns its id. */
export async function reachState(
  queue: QueueUnderTest,
  state: TaskState,
  input: Partial<NewTaskInput> = {}
): Promise<string> {
  const act = async (action: OperatorAction): Promise<string> => {
    const taskId = await queue.submit(input)
    await queue.store.act(taskId, action, 'ada')
    return taskId
  }
  const settle = async (settlement: SettlementBody): Promise<string> => {
    const fence = await queue.running(input)
    await queue.settle({ fence, ...settlement })
    return fence.taskId
  }
  switch (state) {
    case 'CREATED':
      return queue.submit({ ...input, held: true })
    case 'QUEUED':
      return queue.submit(input)
    case 'PAUSED':
      return act('pause')
    case 'CANCELLED':
      return act('cancel')
    case 'RUNNING':
      return (await queue.running(input)).taskId
    case 'CANCEL_REQUESTED': {
      const { taskId } = await queue.running(input)
      await queue.store.act(taskId, 'cancel', 'ada')
      return taskId
    }
    case 'RETRY_WAIT':
      return settle(settlementOf.retryLater)
    case 'SUCCESS':
      return settle(settlementOf.succeed)
    case 'PARTIAL_SUCCESS':
      return settle(settlementOf.succeedPartially)
    case 'FAILED':
      return settle(settlementOf.fail)
  }
}

type WithoutFence<T> = T extends Settlement ? Omit<T, 'fence'> : never
type SettlementBody = WithoutFence<Settlement>
type SettlingEvent = Exclude<TaskEvent, OperatorAction | 'claim' | 'passDeadline' | 'failDependency'>

export const settlementOf: Readonly<Record<SettlingEvent, SettlementBody>> = {
  succeed: { outcome: 'SUCCESS', result: '{"ok":1}' },
  succeedPartially: { outcome: 'PARTIAL_SUCCESS', result: '{"ok":2}' },
  retryLater: { outcome: 'RETRY', error: failure, delayMs: 60_000 },
  fail: { outcome: 'FAILED', error: failure },
  acknowledgeCancel: { outcome: 'CANCELLED' },
  handBack: { outcome: 'HANDED_BACK' }
}

const isOperatorAction = (event: TaskEvent): event is OperatorAction =>
  (operatorActions as readonly TaskEvent[]).includes(event)

/**
 * Lets `event` happen to the task by its real operation, with the fence of its latest attempt where one is needed.
 * `prepare` runs before (it makes time pass); returns whether the operation said that it happened.
 */
export async function perform(queue: QueueUnderTest, taskId: string, event: TaskEvent): Promise<boolean> {
  if (isOperatorAction(event)) return (await queue.store.act(taskId, event, 'ada')).status === 'done'
  if (event === 'claim') {
    const claimed = await queue.store.claim({ workerId: 'w1', types: ['t'], limit: 10, leaseMs: 60_000 })
    return claimed.some(({ fence }) => fence.taskId === taskId)
  }
  if (event === 'passDeadline') {
    return (await queue.store.recover(10)).some((recovered) => recovered.taskId === taskId)
  }
  if (event === 'failDependency') {
    const [parent] = (await queue.detail(taskId)).waitsFor
    const before = await queue.state(taskId)
    await queue.store.act(parent!.taskId, 'cancel', 'ada')
    return before !== 'FAILED' && (await queue.state(taskId)) === 'FAILED'
  }
  const { attempt } = await queue.detail(taskId)
  const fence = { taskId, workerId: 'w1', attempt: Math.max(attempt, 1) }
  return (await queue.settle({ fence, ...settlementOf[event] })) !== undefined
}

/** Makes the event possible as far as others go: a due time or a deadline that has passed, a task that it waits for. */
export async function makeTimely(queue: QueueUnderTest, taskId: string, event: TaskEvent): Promise<void> {
  if (event === 'claim') await queue.shift(taskId, 'run_at', -3_600_000)
  if (event === 'passDeadline') await queue.passDeadline(taskId)
  if (event === 'failDependency') await queue.waitFor(taskId, await queue.submit({ type: 'parent' }))
}
