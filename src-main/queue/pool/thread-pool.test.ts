import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { defaultRetryPolicy, systemClock } from '../../kernel/index.ts'
import { ManualClock } from '../manual-clock.fixture.ts'
import { claimedTask } from './lease.fixture.ts'
import type { JobEnd } from './pool-job.ts'
import { threadLimits } from './protocol.ts'
import { ThreadPool } from './thread-pool.ts'

describe('ThreadPool', () => {
  it('holds no timer before it has a thread', () => {
    const clock = new ManualClock()
    let sleeps = 0
    const sleep = clock.sleep.bind(clock)
    clock.sleep = (ms, signal) => {
      sleeps++
      return sleep(ms, signal)
    }
    const nothing = (): undefined => undefined
    const mode = 'run' as const
    const config = { mode, builtIn: false, files: [], fileOfType: {}, errorRules: [], artifactDir: '', cacheDir: '' }
    const pool = new ThreadPool({
      clock,
      slots: 1,
      start: { config, memoryMb: 64 },
      timeoutGraceMs: 1,
      watchAll: false,
      listener: { started: nothing, ended: nothing, request: nothing, note: nothing }
    })
    pool.resize(2)
    expect([sleeps, pool.threadCount]).toEqual([0, 0])
  })

  it('takes a thread that it ends itself while it starts for no failed one', async () => {
    const ended = Promise.withResolvers<string>()
    const notes: string[] = []
    const nothing = (): undefined => undefined
    const dirs = { artifactDir: join(tmpdir(), 'taskdeck-none'), cacheDir: join(tmpdir(), 'taskdeck-none') }
    const mode = 'run' as const
    const config = { mode, builtIn: true, files: [], fileOfType: {}, errorRules: [], ...dirs }
    const pool = new ThreadPool({
      clock: systemClock,
      slots: 1,
      start: { config, memoryMb: 128 },
      timeoutGraceMs: 100,
      watchAll: false,
      listener: {
        ...{ started: nothing, request: nothing },
        ended: (_job, { status }) => ended.resolve(status),
        note: (_level, message) => void notes.push(message)
      }
    })
    const fence = { taskId: '1', workerId: 'w', attempt: 1 }
    const more = { title: '', owner: '', businessKey: null, attemptsUsed: 1, maxAttempts: 1, leaseMs: 1_000 }
    const given = { timeoutMs: null, idempotencyKey: 'k', checkpoint: null, retryPolicy: defaultRetryPolicy }
    pool.submit([{ fence, type: 'sleep', payload: '{"ms":0}', ...more, ...given }])
    pool.reconfigure({ config, memoryMb: 128 })
    expect(await ended.promise).toBe('succeeded')
    expect(notes).toEqual([])
    await pool.stop()
  })

  it.each([
    ['waits for ever', 'await new Promise(() => undefined)'],
    ['computes for ever', 'for (;;);']
  ])('ends the attempt and its thread when a handler file %s instead of loading', async (_how, text) => {
    const dir = mkdtempSync(join(tmpdir(), 'taskdeck-load-'))
    onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
    const file = join(dir, 'handler.js')
    writeFileSync(file, text)
    const dirs = { artifactDir: dir, cacheDir: join(dir, 'cache') }
    const config = {
      mode: 'run' as const,
      builtIn: true,
      files: [],
      fileOfType: { stuck: file },
      errorRules: [],
      ...dirs
    }
    const ends = [Promise.withResolvers<JobEnd>(), Promise.withResolvers<JobEnd>()] as const
    const nothing = (): undefined => undefined
    const pool = new ThreadPool({
      // The time for a file to load is over as soon as it begins to.
      clock: { ...systemClock, sleep: (ms, signal) => systemClock.sleep(ms === threadLimits.loadMs ? 0 : ms, signal) },
      ...{ slots: 1, start: { config, memoryMb: 128 }, timeoutGraceMs: 100, watchAll: false },
      listener: {
        ...{ started: nothing, request: nothing, note: nothing },
        ended: ({ claimed }, end) => ends[Number(claimed.fence.taskId)]?.resolve(end)
      }
    })
    onTestFinished(() => pool.stop())
    pool.submit([claimedTask({ taskId: '0', type: 'stuck' }), claimedTask({ taskId: '1', payload: '{"ms":0}' })])
    const end = { code: 'HANDLER_LOAD_FAILED', message: expect.stringContaining(file) as string }
    expect(await ends[0].promise).toEqual({ status: 'thread-ended', end })
    expect(await ends[1].promise).toMatchObject({ status: 'succeeded' })
  })

  it('gives back what has no thread when none starts, has room for nothing, and goes on by itself', async () => {
    const dirs = { artifactDir: join(tmpdir(), 'taskdeck-none'), cacheDir: join(tmpdir(), 'taskdeck-none') }
    const config = { mode: 'run' as const, builtIn: true, files: [], fileOfType: {}, errorRules: [], ...dirs }
    const broken = { config: { ...config, artifactDir: 0 as never }, memoryMb: 128 }
    const ends = [Promise.withResolvers<string>(), Promise.withResolvers<string>()] as const
    const notes: string[] = []
    const nothing = (): undefined => undefined
    const pool = new ThreadPool({
      clock: systemClock,
      ...{ slots: 3, start: broken, timeoutGraceMs: 100, watchAll: false },
      listener: {
        ...{ started: nothing, request: nothing },
        ended: ({ claimed }, { status }) => ends[Number(claimed.fence.taskId)]?.resolve(status),
        note: (_level, message) => void notes.push(message)
      }
    })
    onTestFinished(() => pool.stop())
    pool.submit([claimedTask({ taskId: '0', payload: '{"ms":0}' })])
    expect(pool.room).toBe(3)
    expect(await ends[0].promise).toBe('unstarted')
    expect([pool.room, notes.length]).toEqual([0, 1])
    pool.reconfigure({ config, memoryMb: 128 })
    // Claimed just before: it waits for the next try.
    pool.submit([claimedTask({ taskId: '1', payload: '{"ms":0}' })])
    expect(await ends[1].promise).toBe('succeeded')
    expect(pool.room).toBe(3)
  })
})
