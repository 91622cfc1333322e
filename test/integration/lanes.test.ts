import { afterEach, expect, it } from 'vitest'
import type { Lanes } from '../../src-main/contract/index.ts'
import { startApp, type AppUnderTest } from './app-under-test.ts'

let opened: AppUnderTest | undefined
afterEach(async () => {
  await opened?.app.stop()
  opened = undefined
})

it('a page is told who ran what and what runs, checked against the contract', async () => {
  opened = await startApp()
  const { client } = opened
  await opened.link('local', ({ link }) => link.status === 'live')
  const lanes = (type: string | null = null): Promise<Lanes> =>
    client.workers.lanes({ connectionId: 'local', fromMsAgo: 60_000, type })
  expect(await lanes()).toMatchObject({ ended: [], allEnded: true, running: [], allRunning: true, limits: [] })

  await client.localWorker.start({ connectionId: 'local', slots: 2, handlersDir: null })
  const submit = async (type: string, payload: object): Promise<string> =>
    (
      await client.tasks.submit({
        connectionId: 'local',
        task: { type, payload: JSON.stringify(payload), maxAttempts: 1 }
      })
    ).firstId
  const failed = await submit('flaky', { failFirst: 1, errorClass: 'final' })
  const running = await submit('sleep', { ms: 60_000 })
  await expect.poll(async () => (await lanes()).ended.length, { timeout: 40_000 }).toBe(1)
  await expect.poll(async () => (await lanes()).running.length, { timeout: 40_000 }).toBe(1)

  const all = await lanes()
  expect(all.ended[0]).toMatchObject({
    taskId: failed,
    type: 'flaky',
    outcome: 'FAILED',
    errorCode: 'FLAKY',
    attempt: 1
  })
  expect(all.running[0]).toMatchObject({ taskId: running, type: 'sleep', state: 'RUNNING', attempt: 1 })
  expect(all.running[0]?.workerId).toBe(all.ended[0]?.workerId)
  expect(all.running[0]!.leaseUntil).toBeGreaterThan(all.at)
  expect(await lanes('sleep')).toMatchObject({ ended: [], running: [{ taskId: running }] })
})

it('a window that is too long, or a connection that is gone, is refused', async () => {
  opened = await startApp()
  const { client } = opened
  await expect(client.workers.lanes({ connectionId: 'local', fromMsAgo: 7 * 3_600_000 })).rejects.toMatchObject({
    code: 'BAD_REQUEST'
  })
  await expect(client.workers.lanes({ connectionId: 'nobody', fromMsAgo: 60_000 })).rejects.toMatchObject({
    data: { code: 'NOT_FOUND' }
  })
})
