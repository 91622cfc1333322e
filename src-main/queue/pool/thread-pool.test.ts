import { describe, expect, it } from 'vitest'
import { ManualClock } from '../manual-clock.fixture.ts'
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
})
