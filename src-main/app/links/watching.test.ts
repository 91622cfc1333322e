import { expect, it } from 'vitest'
import { AppError, systemClock, type SqlDatabase } from '../../kernel/index.ts'
import { watchingOn } from './watching.ts'

let closed = 0
const database: SqlDatabase = {
  flavour: 'mariadb',
  serverVersion: '10.11',
  execute: () => Promise.resolve({ rows: [{ now: '2026-11-30 00:00:00' }], affectedRows: 0, insertId: '0' }),
  transaction: () => Promise.reject(new Error('none')),
  close: () => Promise.resolve(void (closed += 1))
}
const refused = new AppError('TOO_MANY_CONNECTIONS', 'operational', 'full')

it('opens one session with the first round, and ends it', async () => {
  let opens = 0
  const { probes, close } = watchingOn(() => Promise.resolve((opens++, database)), systemClock)
  expect(opens).toBe(0)
  await Promise.all([probes.begin(), probes.begin()])
  await probes.begin()
  expect(opens).toBe(1)
  closed = 0
  await close()
  expect(closed).toBe(1)
})

it('says why it cannot be opened, and tries again with the next round', async () => {
  const answers = [Promise.reject(refused), Promise.resolve(database)]
  const { probes } = watchingOn(() => answers.shift() ?? Promise.reject(refused), systemClock)
  await expect(probes.begin()).rejects.toBe(refused)
  expect((await probes.begin()).now).toBe('2026-11-30 00:00:00')
})

it('ends a session that is just being opened, and none that never was', async () => {
  closed = 0
  await watchingOn(() => Promise.resolve(database), systemClock).close()
  expect(closed).toBe(0)
  const { probes, close } = watchingOn(() => Promise.resolve(database), systemClock)
  const begun = probes.begin()
  await close()
  expect(closed).toBe(1)
  await begun
})

it('opens none after it was ended', async () => {
  let opens = 0
  const { probes, close } = watchingOn(() => Promise.resolve((opens++, database)), systemClock)
  await close()
  await expect(probes.begin()).rejects.toMatchObject({ code: 'CONNECTION_LOST' })
  expect(opens).toBe(0)
})
