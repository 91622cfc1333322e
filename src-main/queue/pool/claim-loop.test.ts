import { beforeEach, describe, expect, it } from 'vitest'
import { AppError } from '../../kernel/index.ts'
import type { ClaimedTask, TaskStore } from '../task-store.ts'
import { ClaimLoop } from './claim-loop.ts'
import { DatabaseState } from './database-state.ts'
import { claimedTask } from './lease.fixture.ts'
import { ManualClock, settled } from '../manual-clock.fixture.ts'

const pollMs = 1_000

describe('ClaimLoop', () => {
  let clock: ManualClock
  let held: number
  let due: number
  let limits: number[]
  let types: string[]
  let failure: AppError | undefined
  /** How many tasks of the type may run, here and elsewhere; null: any number. */
  let mostRunning: number | null
  let runningElsewhere: number
  /** Another claimer is just taking under the limit. */
  let isGateTaken: boolean
  /** A claim has counted and is about to be answered. */
  let answered: Promise<void>
  let database: DatabaseState
  let loop: ClaimLoop

  beforeEach(() => {
    clock = new ManualClock()
    held = 0
    due = 0
    limits = []
    types = ['sleep']
    failure = undefined
    mostRunning = null
    runningElsewhere = 0
    isGateTaken = false
    answered = Promise.resolve()
    database = new DatabaseState(() => undefined)
    const store: Pick<TaskStore, 'claim'> = {
      claim: async ({ limit, onLimited }): Promise<ClaimedTask[]> => {
        limits.push(limit)
        const room = mostRunning === null ? Infinity : Math.max(0, mostRunning - held - runningElsewhere)
        await answered
        if (failure) throw failure
        const got = isGateTaken ? 0 : Math.min(limit, due, room)
        if (got < Math.min(limit, due)) onLimited?.({ types: ['sleep'], isBusy: isGateTaken })
        due -= got
        return Array.from({ length: got }, () => claimedTask())
      }
    }
    loop = new ClaimLoop({
      store: store as TaskStore,
      clock,
      database,
      workerId: 'worker',
      leaseMs: 30_000,
      pollMs,
      types: () => types,
      capacity: () => ({ slots: 10, free: 10 - held }),
      onClaimed: (tasks) => {
        held += tasks.length
      }
    })
  })

  const free = (count: number): void => {
    held -= count
    for (let times = 0; times < count; times++) loop.slotFreed('sleep')
  }

  it('polls an idle queue less and less, down to the configured pace', async () => {
    loop.start()
    await clock.advance(60_000)
    expect(limits.length).toBeGreaterThan(55)
    expect(limits.length).toBeLessThan(75)
  })

  it('asks for the free slots and never for more', async () => {
    due = 1_000
    loop.start()
    await clock.advance(100)
    expect(limits).toEqual([10])
    free(4)
    await clock.advance(100)
    expect(limits).toEqual([10, 4])
    expect(held).toBe(10)
  })

  it('collects freed slots for a moment while work flows', async () => {
    due = 1_000
    loop.start()
    await clock.advance(100)
    free(1)
    await clock.advance(2)
    free(1)
    await clock.advance(20)
    expect(limits).toEqual([10, 2])
  })

  it('looks again soon after it found something', async () => {
    loop.start()
    await clock.advance(10_000)
    const before = limits.length
    due = 3
    loop.nudge()
    await clock.advance(8)
    expect(limits.length).toBeGreaterThanOrEqual(before + 2)
  })

  it('claims nothing without handlers', async () => {
    types = []
    loop.start()
    await clock.advance(10_000)
    expect(limits).toEqual([])
  })

  it('goes on by itself after the database was away', async () => {
    failure = new AppError('CONNECTION_REFUSED', 'operational', 'away')
    due = 5
    loop.start()
    await clock.advance(20_000)
    expect(database.code).toBe('CONNECTION_REFUSED')
    expect(limits.length).toBeLessThan(30)
    failure = undefined
    await clock.advance(10_000)
    expect(database.code).toBe('ok')
    expect(held).toBe(5)
  })

  describe('when a limit of running tasks cut its claim short', () => {
    const atLimit = async (): Promise<number> => {
      mostRunning = 4
      due = 1_000
      loop.start()
      await clock.advance(10_000)
      expect(held).toBe(4)
      return limits.length
    }

    it('claims again as soon as one of its tasks has ended', async () => {
      const before = await atLimit()
      free(1)
      await clock.advance(1)
      expect(held).toBe(4)
      expect(limits.length).toBe(before + 1)
      free(3)
      await clock.advance(1)
      expect(held).toBe(4)
      expect(limits.length).toBe(before + 2)
    })

    it('does so too when the task ended while the claim was counting', async () => {
      const before = await atLimit()
      const answer = Promise.withResolvers<void>()
      answered = answer.promise
      loop.nudge()
      await settled()
      free(1)
      answer.resolve()
      await clock.advance(1)
      expect(limits.length).toBe(before + 2)
      expect(held).toBe(4)
    })

    it('keeps its pace while others hold all of the limit, also when tasks of other types end', async () => {
      mostRunning = 4
      runningElsewhere = 4
      due = 1_000
      loop.start()
      await clock.advance(10_000)
      const before = limits.length
      for (let time = 0; time < 10_000; time += 10) {
        loop.slotFreed('other')
        await clock.advance(10)
      }
      expect(limits.length - before).toBeLessThanOrEqual(10_000 / pollMs + 3)
      expect(loop.watch.fault()).toBeNull()
    })

    it('polls once for each end whose room others took, and then keeps its pace', async () => {
      const before = await atLimit()
      runningElsewhere = 1
      free(1)
      await clock.advance(2)
      expect(limits.length).toBe(before + 1)
      await clock.advance(10_000)
      expect(limits.length - before).toBeLessThan(25)
      runningElsewhere = 0
      await clock.advance(2 * pollMs)
      expect(held).toBe(4)
    })

    it('tries again in a moment when another claimer is just taking under it, for as long as a claim may take', async () => {
      const before = await atLimit()
      isGateTaken = true
      free(1)
      await clock.advance(16)
      expect(limits.length - before).toBeGreaterThanOrEqual(4)
      isGateTaken = false
      await clock.advance(10)
      expect(held).toBe(4)
    })

    it('does not go on trying so when that never ends', async () => {
      const before = await atLimit()
      isGateTaken = true
      free(1)
      await clock.advance(10_000)
      expect(limits.length - before).toBeLessThan(35)
    })

    it('polls no more for ends once tasks are what it lacks', async () => {
      await atLimit()
      due = 0
      free(1)
      await clock.advance(10_000)
      const before = limits.length
      free(3)
      await clock.advance(100)
      expect(limits.length - before).toBeLessThanOrEqual(1)
    })
  })

  describe('hints', () => {
    const idle = async (): Promise<number> => {
      loop.start()
      await clock.advance(10_000)
      return limits.length
    }

    it('make it poll at once', async () => {
      const before = await idle()
      due = 1
      loop.hint()
      await clock.advance(1)
      expect(limits.length).toBe(before + 1)
      expect(held).toBe(1)
    })

    it('that bring nothing cost one poll each and leave its pace alone', async () => {
      const before = await idle()
      loop.hint()
      await clock.advance(700)
      expect(limits.length).toBe(before + 1)
    })

    it('that come as a flood make it poll 20 times a second at most, and are no fault of its own', async () => {
      const before = await idle()
      for (let time = 0; time < 5_000; time += 10) {
        loop.hint()
        await clock.advance(10)
      }
      expect(limits.length - before).toBeGreaterThan(80)
      expect(limits.length - before).toBeLessThanOrEqual(10 + 100 + 1)
      await clock.advance(10_000)
      expect(loop.watch.fault()).toBeNull()
    })

    it('say nothing of a database that is away', async () => {
      await idle()
      failure = new AppError('CONNECTION_REFUSED', 'operational', 'away')
      loop.hint()
      await clock.advance(10_000)
      const before = limits.length
      loop.hint()
      await clock.advance(100)
      expect(limits.length - before).toBeLessThanOrEqual(1)
    })
  })

  it('says so when it is nudged all the time without there being work', async () => {
    loop.start()
    for (let time = 0; time < 25_000; time += 50) {
      loop.nudge()
      await clock.advance(50)
    }
    expect(loop.watch.fault()).toMatch(/polls 2\d\.\d times a second beyond its pause of 1000 ms/)
    await clock.advance(20_000)
    expect(loop.watch.fault()).toBeNull()
  })

  it('claims nothing while it is quiet, and goes on after', async () => {
    loop.start()
    await clock.advance(10_000)
    const before = limits.length
    due = 5
    loop.setQuiet(true)
    loop.nudge()
    loop.hint()
    await clock.advance(60_000)
    expect(limits.length).toBe(before)
    loop.setQuiet(false)
    await clock.advance(1)
    expect(held).toBe(5)
  })

  it('claims nothing after it was stopped', async () => {
    loop.start()
    await clock.advance(100)
    const stopped = loop.stop()
    const before = limits.length
    due = 5
    loop.nudge()
    await clock.advance(10_000)
    await stopped
    expect(limits).toHaveLength(before)
  })
})
