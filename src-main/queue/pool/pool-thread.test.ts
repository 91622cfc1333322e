import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { systemClock } from '../../kernel/index.ts'
import { claimedTask } from './lease.fixture.ts'
import { PoolJob } from './pool-job.ts'
import { PoolThread } from './pool-thread.ts'

it('takes what a task says meanwhile for a sign of life, and not for the turn of the next', async () => {
  let time = 0
  const clock = { ...systemClock, monotonic: () => time }
  const dirs = { artifactDir: join(tmpdir(), 'taskdeck-none'), cacheDir: join(tmpdir(), 'taskdeck-none') }
  const config = { mode: 'run' as const, builtIn: true, files: [], fileOfType: {}, errorRules: [], ...dirs }
  const ready = Promise.withResolvers<void>()
  const ended = Promise.withResolvers<void>()
  const seen: unknown[] = []
  const look = (what: string): void => void seen.push([what, thread.lastSignAt, thread.turnAt])
  const nothing = (): void => undefined
  const thread = new PoolThread({ config, memoryMb: 128 }, clock, {
    ...{ threadIdle: nothing, request: nothing, note: nothing, tainted: nothing, threadEnded: nothing },
    threadReady: () => ready.resolve(),
    started: () => look('started'),
    jobEnded: () => {
      look('ended')
      ended.resolve()
    }
  })
  await ready.promise
  time = 10
  thread.run([new PoolJob(claimedTask({ payload: '{"ms":0}' }), 0, true)])
  look('handed over')
  time = 20
  await ended.promise
  expect(seen).toEqual([
    ['handed over', 10, 10],
    ['started', 20, 10],
    ['ended', 20, 20]
  ])
  await thread.terminate()
})
