import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { leasedStates, operatorActions, waitingStates, type Fence } from '../../src-main/kernel/index.ts'
import { QueueModel, type ModelTask, type SettledOutcome } from './model.ts'
import { everySettlement, task as newTask, type QueueUnderTest } from './queue-under-test.ts'

/** Longer than a test lasts: a retry is due only when the test moves its time. */
const farAwayMs = 3_600_000
const workers = ['w1', 'w2'] as const
const outcomes = ['SUCCESS', 'PARTIAL_SUCCESS', 'RETRY', 'FAILED', 'CANCELLED', 'HANDED_BACK'] as const

/** `task` is an index into the tasks that exist when the step runs, modulo their number. */
const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('submit' as const),
      type: fc.constantFrom('a', 'b'),
      held: fc.boolean(),
      maxAttempts: fc.integer({ min: 1, max: 3 }),
      priority: fc.integer({ min: 0, max: 9 }),
      key: fc.option(fc.constantFrom('k', 'K'))
    })
  },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('claim' as const),
      workerId: fc.constantFrom(...workers),
      types: fc.subarray(['a', 'b']),
      limit: fc.integer({ min: 1, max: 4 })
    })
  },
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('settle' as const),
      task: fc.nat(),
      outcome: fc.constantFrom(...outcomes),
      off: fc.constantFrom('no', 'no', 'no', 'attempt', 'worker')
    })
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('renew' as const),
      task: fc.nat(),
      off: fc.constantFrom('no', 'attempt', 'worker')
    })
  },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('act' as const),
      task: fc.nat(),
      action: fc.constantFrom(...operatorActions)
    })
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('expireLease' as const), task: fc.nat() }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('becomeDue' as const), task: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('passDeadline' as const), task: fc.nat() }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('recover' as const) }) }
)
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

const fenceOf = (task: ModelTask, off: string): Fence => ({
  taskId: task.id,
  workerId: off === 'worker' ? 'w3' : task.workerId || 'w1',
  attempt: Math.max(1, task.attempt) - (off === 'attempt' ? 1 : 0)
})

export function describeAgainstModel(queue: QueueUnderTest): void {
  /** Runs the step on the store and on the model and compares what each says. */
  async function take(model: QueueModel, keys: Map<string, string>, s: Step): Promise<void> {
    if (s.do === 'submit') {
      const { type, held, maxAttempts, priority, key } = s
      const policy = { kind: 'list' as const, delaysMs: [farAwayMs] }
      const [result] = await queue.store.submit([
        newTask({ type, held, maxAttempts, priority, idempotencyKey: key, retryPolicy: policy })
      ])
      const known = key === null ? undefined : keys.get(`${type} ${key}`)
      expect(result!.status).toBe(known === undefined ? 'created' : 'exists')
      if (known !== undefined) return expect(result!.taskId).toBe(known)
      if (key !== null) keys.set(`${type} ${key}`, result!.taskId)
      return model.add({ id: result!.taskId, type, maxAttempts, held })
    }
    if (s.do === 'claim') {
      const allowed = model.claimable(s.types)
      const count = Math.min(s.limit, allowed.length)
      const claimed =
        count > 0
          ? await queue.claim(count, s)
          : await queue.store.claim({ workerId: s.workerId, types: s.types, limit: s.limit, leaseMs: 60_000 })
      expect(claimed).toHaveLength(count)
      for (const { fence, attemptsUsed } of claimed) {
        const task = allowed.find(({ id }) => id === fence.taskId)
        expect(task).toBeDefined()
        model.claim(task!, s.workerId)
        expect([fence.attempt, attemptsUsed]).toEqual([task!.attempt, task!.attemptsUsed])
      }
      return
    }
    if (s.do === 'recover') {
      const recovered = await queue.store.recover(1_000)
      expect(recovered.map((r) => `${r.taskId} ${r.reason} ${r.state}`).sort()).toEqual(model.recover().sort())
      return
    }
    if (model.tasks.length > 0) await takeOnTask(model, model.tasks[s.task % model.tasks.length]!, s)
  }

  async function takeOnTask(
    model: QueueModel,
    task: ModelTask,
    s: Exclude<Step, { do: 'submit' | 'claim' | 'recover' }>
  ): Promise<void> {
    switch (s.do) {
      case 'settle': {
        const fence = fenceOf(task, s.off)
        const settlement = everySettlement(fence).find((one) => one.outcome === s.outcome)!
        const delayed = settlement.outcome === 'RETRY' ? { ...settlement, delayMs: farAwayMs } : settlement
        const accepted = model.settle(fence, s.outcome satisfies SettledOutcome)
        return expect((await queue.settle(delayed)) !== undefined).toBe(accepted)
      }
      case 'renew': {
        const fence = fenceOf(task, s.off)
        const { renewed } = await queue.store.renew([fence], 60_000)
        return expect(renewed).toHaveLength(model.renew(fence) ? 1 : 0)
      }
      case 'act': {
        const done = model.act(task, s.action)
        return expect((await queue.store.act(task.id, s.action)).status).toBe(done ? 'done' : 'refused')
      }
      case 'expireLease':
        if (!(leasedStates as readonly string[]).includes(task.state)) return
        task.leaseExpired = true
        return queue.shift(task.id, 'lease_until', -farAwayMs)
      case 'becomeDue':
        if (task.due || !(waitingStates as readonly string[]).includes(task.state)) return
        task.due = true
        return queue.shift(task.id, 'run_at', -2 * farAwayMs)
      case 'passDeadline':
        task.deadlinePassed = true
        return queue.passDeadline(task.id)
    }
  }

  async function compareAll(model: QueueModel): Promise<void> {
    for (const task of model.tasks) {
      const { state, attempt, attemptsUsed, attempts } = await queue.detail(task.id)
      const ended = attempts.filter((a) => a.outcome !== null)
      expect({ id: task.id, state, attempt, attemptsUsed }).toEqual({
        id: task.id,
        state: task.state,
        attempt: task.attempt,
        attemptsUsed: task.attemptsUsed
      })
      expect(ended.map((a) => [a.attempt, a.workerId, a.outcome])).toEqual(
        task.ended.map((a, i) => [i + 1, a.workerId, a.outcome])
      )
      expect(attempts).toHaveLength(task.attempt)
    }
    expect(await queue.count('task')).toBe(model.tasks.length)
  }

  describe('random steps', () => {
    it('lead where the model says', { timeout: 60_000 }, async () => {
      const property = fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 60 }), async (steps) => {
        await queue.clear()
        const model = new QueueModel()
        const keys = new Map<string, string>()
        for (const one of steps) await take(model, keys, one)
        await compareAll(model)
      })
      await fc.assert(property, { numRuns: 40, interruptAfterTimeLimit: 40_000 })
    })
  })
}
