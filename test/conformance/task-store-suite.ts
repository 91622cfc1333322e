import { afterAll, afterEach, beforeAll, beforeEach, describe } from 'vitest'
import { describeAgainstModel } from './against-model.ts'
import { describeClaiming } from './claiming.ts'
import { describeDeadLetters } from './dead-letters.ts'
import { describeDependencies } from './dependencies.ts'
import { describeFencing } from './fencing.ts'
import { describeLimits } from './limits.ts'
import { describeLooking } from './looking.ts'
import { describeNamedDelays } from './named-delays.ts'
import { describeOwners } from './owners.ts'
import { describePolicies } from './policies.ts'
import { describeQuotas } from './quotas.ts'
import { QueueUnderTest, type ConformanceQueue } from './queue-under-test.ts'
import { describeReading } from './reading.ts'
import { describeRecentAttempts } from './recent-attempts.ts'
import { describeRecovering } from './recovering.ts'
import { describeSchedules } from './schedules.ts'
import { describeSettling } from './settling.ts'
import { describeSubmitting } from './submitting.ts'
import { describeTransitions } from './transitions.ts'

const parts = [
  describeTransitions,
  describeSubmitting,
  describeQuotas,
  describeDependencies,
  describeClaiming,
  describePolicies,
  describeNamedDelays,
  describeLimits,
  describeOwners,
  describeFencing,
  describeSchedules,
  describeSettling,
  describeRecovering,
  describeDeadLetters,
  describeLooking,
  describeReading,
  describeRecentAttempts,
  describeAgainstModel
] as const

/**
 * What every TaskStore must do, on a real queue. `makeQueue` is called once; the suite empties the tables before each test
 * and opens the stores that a test needs.
 */
export function describeTaskStore(name: string, makeQueue: () => Promise<ConformanceQueue>): void {
  describe(`task store on ${name}`, () => {
    let made: ConformanceQueue
    const queue = new QueueUnderTest(() => made)

    beforeAll(async () => {
      made = await makeQueue()
    })
    beforeEach(() => queue.begin())
    afterEach(() => queue.end())
    afterAll(() => made.close())

    for (const describePart of parts) describePart(queue)
  })
}
