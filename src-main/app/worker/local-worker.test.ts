import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { maskText, systemClock } from '../../kernel/index.ts'
import { silentLog } from '../../../test/support/silent-log.ts'
import { openLocalQueue } from '../links/open-queue.ts'
import { LocalWorker } from './local-worker.ts'

it('leaves a connection that is changed while it is just starting there', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'taskdeck-local-worker-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const localFile = join(folder, 'queue.sqlite')
  const places = { clock: systemClock, migrationsDir: join(import.meta.dirname, '../../../migrations') }
  const opening = await openLocalQueue(localFile, places)
  if (opening.status === 'ready') await opening.queue.close()
  const asked = Promise.withResolvers<void>()
  const answer = Promise.withResolvers<null>()
  const worker = new LocalWorker({
    ...{ clock: systemClock, places, localFile, log: silentLog, maskText, version: '0.0.0' },
    artifactDir: join(folder, 'artifacts'),
    graceMs: 1_000,
    publish: () => undefined,
    login: () => (asked.resolve(), answer.promise),
    waiting: () => 0
  })
  const starting = worker.start({ connectionId: 'orders', slots: 1, handlersDir: null })
  await asked.promise
  const leaving = worker.leave('orders')
  answer.resolve(null)
  await starting
  await leaving
  expect(worker.view()).toMatchObject({ status: 'stopped', problem: { code: 'CONNECTION_LOST' } })
})
