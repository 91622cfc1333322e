import { expect, it } from 'vitest'
import type { Meter } from '../queue/metrics/index.ts'
import { startWorker } from './start-worker.ts'

it('refuses a folder of handlers that is on no disk, before it opens anything', async () => {
  const options = { handlers: new URL('https://handlers.example/') }
  const started = startWorker({ kind: 'sqlite', file: '/nowhere/queue.db' }, {} as Meter, options)
  await expect(started).rejects.toMatchObject({ code: 'INVALID_INPUT', kind: 'user' })
})
