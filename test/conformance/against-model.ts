import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  deadLetterFilter,
  leasedStates,
  waitingStates,
  type Fence,
  type Progress
} from '../../src-main/kernel/index.ts'
import type { DeadLetterStep } from '../../src-main/queue/task-store.ts'
import { step, type Step } from './model-steps.ts'
import { QueueModel, type ModelTask, type SettledOutcome } from './model.ts'
import { everySettlement, task as newTask, type QueueUnderTest } from './queue-under-test.ts'

/** Longer than a test lasts: a retry is due only when the test moves its time. */
const farAwayMs = 3_600_000
const fenceOf = (task: ModelTask, off: string): Fence => ({
  taskId: task.id,
  workerId: off === 'worker' ? 'w3' : task.workerId || 'w1',
  attempt: Math.max(1, task.attempt) - (off === 'attempt' ? 1 : 0)
})

const progressOf = (processed: number): Progress => ({
  total: 9,
  processed,
  succeeded: processed,
  failed: 0,
  skipped: 0
})

const listOf = (...delaysMs: number[]) => ({ kind: 'list' as const, delaysMs })
const named = (name: string | null) => (name === null ? null : { kind: 'named' as const, name })

const allOpen = deadLetterFilter.parse({})

export function describeAgainstModel(queue: QueueUnderTest): void {
  const openLetterOf = async (taskId: string): Promise<string | undefined> =>
    (await queue.store.deadLetters(allOpen, 500, null)).rows.find((letter) => letter.taskId === taskId)?.id

  async function submit(
    model: QueueModel,
    keys: Map<string, string>,
    s: Extract<Step, { do: 'submit' }>
  ): Promise<void> {
    const { type, held, maxAttempts, priority, key, delays, afterFailure } = s
    const parents = s.after.flatMap((n) => (model.tasks.length > 0 ? [model.tasks[n % model.tasks.length]!] : []))
    const after = [...new Set(parents)]
    const input = newTask({
      ...{ type, held, maxAttempts, priority, idempotencyKey: key, afterFailure },
      after: after.map(({ id }) => id),
      retryPolicy: named(delays)
    })
    const known = key === null ? undefined : keys.get(`${type} ${key}`)
    if (known === undefined && delays !== null && !model.delays.has(delays))
      return expect(queue.store.submit([input])).rejects.toMatchObject({ code: 'INVALID_INPUT' })
    if (known === undefined && !model.hasRoom)
      return expect(queue.store.submit([input])).rejects.toMatchObject({ code: 'QUOTA_EXCEEDED' })
    // Without a key nobody may repeat what he does not know the outcome of.
    const [lost] = s.losesReply && key !== null ? await queue.store.submit([input]) : []
    const [result] = await queue.store.submit([input])
    const id = (lost ?? result)!.taskId
    if (known !== undefined) return expect(result).toEqual({ status: 'exists', taskId: known })
    if (key !== null) keys.set(`${type} ${key}`, id)
    const isFailed =
      model.add({ id, type, priority, maxAttempts, delays, held, after, afterFailure }).state === 'FAILED'
    expect(result).toEqual(
      lost ? { status: 'exists', taskId: id } : { status: 'created', taskId: id, ...(isFailed && { isFailed }) }
    )
  }

  async function resolveAll(model: QueueModel, s: Extract<Step, { do: 'resolveAll' }>): Promise<void> {
    const upToId = await queue.store.newestDeadLetter()
    if (upToId === null) return
    const expected = model.tasks.filter((task) => task.type === s.type && model.resolve(task, s.action, 'cleo')).length
    let changed = 0
    let cursor: string | null = null
    do {
      const step: DeadLetterStep = await queue.store[s.action](
        { ...allOpen, types: [s.type] },
        { upToId, limit: s.limit, cursor, by: 'cleo' }
      )
      expect(step.skipped).toBe(0)
      changed += step.changed
      cursor = step.nextCursor
    } while (cursor !== null)
    expect(changed).toBe(expected)
  }

  /** Most urgent first, then longest due, then the lowest id. */
  async function claimOrder(tasks: readonly ModelTask[]): Promise<ModelTask[]> {
    const byDueTime = await queue.sql('SELECT id FROM taskdeck_task ORDER BY run_at, id')
    const places = new Map(byDueTime.map(({ id }, place) => [String(id), place]))
    return [...tasks].sort((a, b) => a.priority - b.priority || places.get(a.id)! - places.get(b.id)!)
  }

  /** A store need not see at once what was written past it, handed back or released; a policy that is stored again makes it look. */
  const lookAgain = (model: QueueModel): Promise<void> =>
    queue.store.setPolicy({
      ...{ scope: 'QUEUE', name: '', maxUnfinished: model.quota },
      retryPolicy: listOf(farAwayMs)
    })

  async function setDelays(model: QueueModel, { name, ms }: Extract<Step, { do: 'setDelays' }>): Promise<void> {
    if (ms !== null) {
      model.delays.set(name, farAwayMs + ms)
      return queue.store.setPolicy({ scope: 'DELAYS', name, retryPolicy: listOf(farAwayMs + ms) })
    }
    const removed = queue.store.removePolicy('DELAYS', name)
    if ([...model.delaysOfTypes.values()].includes(name))
      return expect(removed).rejects.toMatchObject({ code: 'INVALID_INPUT' })
    expect(await removed).toBe(model.delays.delete(name))
  }

  async function nameDelays(model: QueueModel, { type, name }: Extract<Step, { do: 'nameDelays' }>): Promise<void> {
    const set = queue.store.setPolicy({ scope: 'TYPE', name: type, retryPolicy: named(name) })
    if (name !== null && !model.delays.has(name)) return expect(set).rejects.toMatchObject({ code: 'INVALID_INPUT' })
    await set
    if (name === null) model.delaysOfTypes.delete(type)
    else model.delaysOfTypes.set(type, name)
  }

  /** Runs the step on the store and on the model and compares what each says. */
  async function take(model: QueueModel, keys: Map<string, string>, s: Step): Promise<void> {
    if (s.do === 'submit') return submit(model, keys, s)
    if (s.do === 'setQuota') {
      model.quota = s.limit
      return lookAgain(model)
    }
    if (s.do === 'resolveAll') return resolveAll(model, s)
    if (s.do === 'setDelays') return setDelays(model, s)
    if (s.do === 'nameDelays') return nameDelays(model, s)
    if (s.do === 'claim') {
      const inOrder = await claimOrder(model.claimable(s.types))
      const count = Math.min(s.limit, inOrder.length)
      const claimed =
        count > 0
          ? await queue.claim(count, s)
          : await queue.store.claim({ workerId: s.workerId, types: s.types, limit: s.limit, leaseMs: 60_000 })
      expect(claimed).toHaveLength(count)
      expect(claimed.map(({ fence }) => fence.taskId)).toEqual(inOrder.slice(0, count).map(({ id }) => id))
      for (const [index, { fence, attemptsUsed, retryPolicy }] of claimed.entries()) {
        const task = inOrder[index]!
        model.claim(task, s.workerId)
        expect([fence.attempt, attemptsUsed]).toEqual([task.attempt, task.attemptsUsed])
        expect(retryPolicy).toEqual(listOf(model.delayOf(task) ?? farAwayMs))
      }
      return
    }
    if (s.do === 'recover') {
      const recovered = await queue.store.recover(1_000)
      // A store need not tell of those whose dependencies ended in this recovery itself.
      const told = recovered.filter(({ reason }) => reason !== 'DEPENDENCY')
      expect(told.map((r) => `${r.taskId} ${r.reason} ${r.state}`).sort()).toEqual(model.recover().sort())
      return lookAgain(model)
    }
    if (model.tasks.length > 0) await takeOnTask(model, model.tasks[s.task % model.tasks.length]!, s)
  }

  async function takeOnTask(model: QueueModel, task: ModelTask, s: Extract<Step, { task: number }>): Promise<void> {
    switch (s.do) {
      case 'settle': {
        const fence = fenceOf(task, s.off)
        const settlement = everySettlement(fence).find((one) => one.outcome === s.outcome)!
        const delayed = settlement.outcome === 'RETRY' ? { ...settlement, delayMs: farAwayMs } : settlement
        const accepted = model.settle(fence, s.outcome satisfies SettledOutcome)
        if (s.losesReply) await queue.settle(delayed)
        expect((await queue.settle(delayed)) !== undefined).toBe(accepted)
        if (s.outcome === 'HANDED_BACK') await lookAgain(model)
        return
      }
      case 'renew': {
        const fence = fenceOf(task, s.off)
        const { renewed } = await queue.store.renew([fence])
        return expect(renewed).toHaveLength(model.renew(fence) ? 1 : 0)
      }
      case 'progress': {
        const fence = fenceOf(task, s.off)
        const refused = await queue.store.saveProgress([{ fence, progress: progressOf(s.processed) }])
        return expect(refused).toEqual(model.saveProgress(fence, s.processed) ? [] : [fence])
      }
      case 'act': {
        const done = model.act(task, s.action, 'ada')
        return expect((await queue.store.act(task.id, s.action, 'ada')).status).toBe(done ? 'done' : 'refused')
      }
      case 'resolve': {
        const letter = await openLetterOf(task.id)
        const resolved = model.resolve(task, s.action, 'bob')
        expect(letter !== undefined).toBe(resolved)
        if (letter === undefined) return
        return expect((await queue.store.resolveDeadLetter(letter, s.action, 'bob')).status).toBe('done')
      }
      case 'expireLease':
        if (!(leasedStates as readonly string[]).includes(task.state)) return
        task.leaseExpired = true
        return queue.shift(task.id, 'lease_until', -farAwayMs)
      case 'becomeDue':
        if (task.due || !(waitingStates as readonly string[]).includes(task.state)) return
        task.due = true
        await queue.shift(task.id, 'run_at', -2 * farAwayMs)
        return lookAgain(model)
      case 'passDeadline':
        task.deadlinePassed = true
        return queue.passDeadline(task.id)
    }
  }

  async function compareAll(model: QueueModel): Promise<void> {
    for (const task of model.tasks) {
      const { state, attempt, attemptsUsed, progress, attempts, retryPolicy } = await queue.detail(task.id)
      const ended = attempts.filter((a) => a.outcome !== null)
      expect({ id: task.id, state, attempt, attemptsUsed, processed: progress?.processed ?? null }).toEqual({
        id: task.id,
        state: task.state,
        attempt: task.attempt,
        attemptsUsed: task.attemptsUsed,
        processed: task.processed
      })
      expect(ended.map((a) => [a.attempt, a.workerId, a.outcome])).toEqual(
        task.ended.map((a, i) => [i + 1, a.workerId, a.outcome])
      )
      expect(attempts).toHaveLength(task.attempt)
      expect(retryPolicy).toEqual(listOf(model.delayOf(task) ?? farAwayMs))
    }
    const letters = await queue.sql(
      'SELECT task_id, attempt, reason, resolution, resolved_by FROM taskdeck_dead_letter ORDER BY task_id, id'
    )
    const columns = ['attempt', 'reason', 'resolution', 'resolved_by']
    expect(letters.map((row) => [String(row['task_id']), ...columns.map((column) => row[column])])).toEqual(
      [...model.tasks]
        .sort((a, b) => Number(a.id) - Number(b.id))
        .flatMap(({ id, letters: ofTask }) =>
          ofTask.map((one) => [id, one.attempt, one.reason, one.resolution, one.by])
        )
    )
    expect(await queue.count('ending')).toBe(0)
    expect(await queue.count('task')).toBe(model.tasks.length)
  }

  describe('random steps', () => {
    it('lead where the model says', { timeout: 60_000 }, async () => {
      const property = fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 60 }), async (steps) => {
        await queue.clear()
        const model = new QueueModel()
        const keys = new Map<string, string>()
        await lookAgain(model)
        for (const one of steps) await take(model, keys, one)
        await compareAll(model)
      })
      await fc.assert(property, { numRuns: 40, interruptAfterTimeLimit: 40_000 })
    })
  })
}
