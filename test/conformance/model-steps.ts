import fc from 'fast-check'
import { operatorActions } from '../../src-main/kernel/index.ts'

const workers = ['w1', 'w2'] as const
const outcomes = ['SUCCESS', 'PARTIAL_SUCCESS', 'RETRY', 'FAILED', 'CANCELLED', 'HANDED_BACK'] as const

/** Whether the reply to it is lost: it is done again, as a caller would. */
const losing = { losesReply: fc.constantFrom(false, false, true) }

/** `task` is an index into the tasks that exist when the step runs, modulo their number. */
export const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('submit' as const),
      type: fc.constantFrom('a', 'b'),
      held: fc.boolean(),
      maxAttempts: fc.integer({ min: 1, max: 3 }),
      priority: fc.constantFrom(0, 5, 9),
      key: fc.constantFrom(null, null, null, 'k', 'K'),
      delays: fc.constantFrom(null, null, 'x', 'y'),
      after: fc.array(fc.nat(), { maxLength: 2 }),
      afterFailure: fc.constantFrom('FAIL' as const, 'RELEASE' as const),
      ...losing
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
      off: fc.constantFrom('no', 'no', 'no', 'attempt', 'worker'),
      ...losing
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
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('progress' as const),
      task: fc.nat(),
      off: fc.constantFrom('no', 'no', 'attempt', 'worker'),
      processed: fc.integer({ min: 0, max: 9 })
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
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('resolve' as const),
      task: fc.nat(),
      action: fc.constantFrom('replay' as const, 'discard' as const)
    })
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('resolveAll' as const),
      action: fc.constantFrom('replay' as const, 'discard' as const),
      type: fc.constantFrom('a', 'b'),
      limit: fc.integer({ min: 1, max: 3 })
    })
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('setQuota' as const), limit: fc.option(fc.integer({ min: 0, max: 12 })) })
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('setDelays' as const),
      name: fc.constantFrom('x', 'y'),
      /** Null removes them. */
      ms: fc.option(fc.integer({ min: 1, max: 9 }))
    })
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('nameDelays' as const),
      type: fc.constantFrom('a', 'b'),
      name: fc.option(fc.constantFrom('x', 'y'))
    })
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('expireLease' as const), task: fc.nat() }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('becomeDue' as const), task: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('passDeadline' as const), task: fc.nat() }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('recover' as const) }) }
)
export type Step = typeof step extends fc.Arbitrary<infer T> ? T : never
