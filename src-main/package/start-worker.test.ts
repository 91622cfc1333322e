import { expect, it } from 'vitest'
import type { Meter } from '../queue/metrics/index.ts'
import { startWorker } from './start-worker.ts'

it('refuses sensitive names that it cannot look for, before it opens anything', async () => {
  const names = [[''], ['x'.repeat(65)], Array.from({ length: 101 }, (_, index) => `n${index}`), [7], 'salary']
  for (const sensitiveKeys of names as string[][]) {
    const started = startWorker({ kind: 'sqlite', file: '/nowhere/queue.db' }, {} as Meter, { sensitiveKeys })
    const refused = { code: 'INVALID_INPUT', message: expect.stringContaining('sensitiveKeys') as string }
    await expect(started).rejects.toMatchObject(refused)
  }
})

it('refuses a folder of handlers that is on no disk, before it opens anything', async () => {
  const options = { handlers: new URL('https://handlers.example/') }
  const started = startWorker({ kind: 'sqlite', file: '/nowhere/queue.db' }, {} as Meter, options)
  await expect(started).rejects.toMatchObject({ code: 'INVALID_INPUT', kind: 'user' })
})
