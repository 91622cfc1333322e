import { afterAll, afterEach, beforeAll, expect, inject, it } from 'vitest'
import { AppError, systemClock } from '../../../src-main/kernel/index.ts'
import { openMysqlStore } from '../../../src-main/queue/store-mysql/index.ts'
import { countingTrouble, MysqlQueue } from '../../integration/store-mysql-queue.ts'
import { Arena, leaseMs } from '../mutants/arena.ts'
import { afterStatement, beforeStatement, refusing } from '../mutants/watching.ts'

/* Section A of the list of known faults (docs/faults.md): claiming and the locks of InnoDB. */

let arena: Arena
beforeAll(async () => {
  arena = await Arena.open(inject('mariadbUrl'))
})
afterEach(() => arena.reset())
afterAll(() => arena.close())

const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'nothing was thrown',
    (error: unknown) => (error instanceof AppError ? error.code : String(error))
  )

/** So that a share of the updates of workers fails with this number, inside of their transaction. */
async function failUpdates(errno: number, chance: number): Promise<void> {
  await arena.admin.query('DELETE FROM fault_switch')
  if (chance > 0) await arena.admin.query('INSERT INTO fault_switch VALUES (?, ?)', [errno, chance])
}

it('FAULTS 1: an open claim, also of an empty queue, keeps nobody from submitting', async () => {
  const producer = await arena.contender('p1')
  let submitted: readonly string[] = []
  const submitNow = async (): Promise<void> => {
    submitted = await arena.submit(producer.store, 5)
  }
  const onEmpty = await arena.contender('w1', (database) =>
    afterStatement(database, 'FOR UPDATE SKIP LOCKED', submitNow)
  )
  await arena.submit(producer.store, 1)
  await onEmpty.claim(10)
  expect(submitted).toHaveLength(5)
})

it('FAULTS 2: a second claimer gets tasks while the claim of the first is open', async () => {
  const second = await arena.contender('w2')
  let ofSecond = 0
  const first = await arena.contender('w1', (database) =>
    afterStatement(database, "SET state = 'RUNNING'", async () => {
      ofSecond = (await second.claim(20)).length
    })
  )
  await arena.submit(first.store, 300)
  expect(await first.claim(50)).toHaveLength(50)
  expect(ofSecond).toBe(20)
})

/** An end by a worker whose update loses the first two times, whichever way the store takes. */
async function endAfterTwoDeadlocks(outcome: 'SUCCESS' | 'PARTIAL_SUCCESS'): Promise<void> {
  let losses = 0
  const worker = await arena.contender('w1', (database) =>
    beforeStatement(database, 'lease_until = NULL', () => failUpdates(1213, losses++ < 2 ? 1 : 0), { always: true })
  )
  const [taskId = ''] = await arena.submit(worker.store, 1)
  const [claimed] = await worker.claim()
  await worker.settle({ fence: claimed!.fence, outcome, result: null })
  expect(losses).toBe(3)
  const task = await worker.store.get(taskId)
  expect(task).toMatchObject({ state: outcome, attemptsUsed: 1, errorCode: null })
  expect(task?.attempts).toMatchObject([{ outcome, error: null }])
  expect(await arena.verdict()).toEqual([])
}

it('FAULTS 3: an end whose write loses two deadlocks is still one success of one attempt', () =>
  endAfterTwoDeadlocks('SUCCESS'))

it('FAULTS 3: so is one of tasks that are locked first', () => endAfterTwoDeadlocks('PARTIAL_SUCCESS'))

it('FAULTS 6: progress and the sweep for expired leases do not deadlock', async () => {
  const queue = await MysqlQueue.migrated(inject('mariadbUrl'))
  try {
    const trouble = { deadlocks: 0, lockTimeouts: 0 }
    const open = async (): ReturnType<MysqlQueue['store']> =>
      queue.store(countingTrouble(await queue.connect(2), trouble))
    const [holder, sweeper] = [await open(), await open()]
    await arena.submit(holder, 50)
    const claimed = await holder.claim({ workerId: 'w1', limit: 50, leaseMs, types: ['t'] })
    expect(claimed).toHaveLength(50)
    let isReporting = true
    const report = async (): Promise<void> => {
      for (let processed = 1; processed <= 25; processed++) {
        const progress = { total: 25, processed, succeeded: processed, failed: 0, skipped: 0 }
        expect(await holder.saveProgress(claimed.map(({ fence }) => ({ fence, progress })))).toEqual([])
      }
      isReporting = false
    }
    const sweep = async (): Promise<void> => {
      while (isReporting) expect(await sweeper.recover(100)).toEqual([])
    }
    await Promise.all([report(), sweep()])
    expect(trouble).toEqual({ deadlocks: 0, lockTimeouts: 0 })
  } finally {
    await queue.close()
  }
})

it('FAULTS 7: renewals that lose every third time to a deadlock lose no lease', async () => {
  const worker = await arena.contender('w1')
  await arena.submit(worker.store, 10)
  const fences = (await worker.claim()).map(({ fence }) => fence)
  // Ten rows an update: about every third one fails, so now and then all tries of one renewal.
  await failUpdates(1213, 0.04)
  let refused = 0
  for (let round = 0; round < 30; round++) {
    const renewal = await worker.store.renew(fences).catch((error: unknown) => {
      expect(error).toMatchObject({ code: 'DEADLOCK', kind: 'operational' })
      refused++
    })
    if (renewal) expect(renewal).toMatchObject({ renewed: fences, lost: [] })
  }
  expect(refused).toBeLessThan(10)
  await failUpdates(1213, 0)
  expect(await worker.store.renew(fences)).toMatchObject({ renewed: fences, lost: [] })
})

it('FAULTS 9: a claim that fails is no failed attempt', async () => {
  const worker = await arena.contender('w1')
  const [taskId = ''] = await arena.submit(worker.store, 1)
  await failUpdates(1213, 1)
  expect(await codeOf(worker.claim())).toBe('DEADLOCK')
  expect(await worker.store.get(taskId)).toMatchObject({
    state: 'QUEUED',
    attempt: 0,
    attemptsUsed: 0,
    errorCode: null,
    attempts: []
  })
  await failUpdates(1213, 0)
  expect(await worker.claim()).toMatchObject([{ attemptsUsed: 1 }])
})

it('FAULTS 12: a server that does not know SKIP LOCKED is an error when the store opens, not an empty queue', async () => {
  const queue = await MysqlQueue.migrated(inject('mariadbUrl'))
  try {
    const old = refusing(await queue.connect(), 'SKIP LOCKED')
    expect(await codeOf(openMysqlStore({ database: old, clock: systemClock }))).toBe('SQL_FAILED')
  } finally {
    await queue.close()
  }
})
