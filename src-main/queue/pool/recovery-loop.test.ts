import { expect, it } from 'vitest'
import { ManualClock } from '../manual-clock.fixture.ts'
import type { Recovered, TaskStore } from '../task-store.ts'
import { DatabaseState } from './database-state.ts'
import { RecoveryLoop } from './recovery-loop.ts'

it('goes on soon while there is more than one round takes, and then at its own pace', async () => {
  const clock = new ManualClock()
  let left = 25_000
  let asked = 0
  const one: Recovered = { taskId: '1', type: 't', reason: 'DEADLINE', state: 'FAILED' }
  const store = {
    recover: (limit: number): Promise<Recovered[]> => {
      asked++
      const taken = Math.min(limit, left)
      left -= taken
      return Promise.resolve(Array.from({ length: taken }, () => one))
    }
  } as unknown as TaskStore
  const database = new DatabaseState(() => undefined)
  const loop = new RecoveryLoop({ store, clock, database, recoverMs: 60_000, onRecovered: () => undefined })
  loop.start()
  await clock.advance(2_000)
  for (let round = 0; round < 3; round++) await clock.advance(100)
  expect(left).toBe(0)
  const before = asked
  await clock.advance(30_000)
  expect(asked).toBe(before)
  await loop.stop()
})
