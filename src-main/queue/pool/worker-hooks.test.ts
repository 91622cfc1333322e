import { describe, expect, it } from 'vitest'
import { ManualClock } from '../manual-clock.fixture.ts'
import { HookRunner, type WorkerHooks } from './worker-hooks.ts'

function runnerOf(hooks: WorkerHooks) {
  const clock = new ManualClock()
  const log: string[] = []
  return { clock, log, runner: new HookRunner({ hooks, clock, log: (message) => log.push(message) }) }
}

describe('HookRunner', () => {
  it.each([
    [
      'throws',
      () => {
        throw new Error('sync')
      },
      /onStart: sync/
    ],
    ['rejects', () => Promise.reject(new Error('async')), /onStart: async/]
  ] as const)('logs a hook that %s and goes on', async (_name, onStart, message) => {
    const { runner, log } = runnerOf({ onStart })
    await runner.call('onStart', { workerId: 'w' })
    expect(log.join()).toMatch(message)
  })

  it('stops waiting for a hook that does not end', async () => {
    const { clock, runner, log } = runnerOf({ onStart: () => new Promise(() => undefined) })
    const called = runner.call('onStart', { workerId: 'w' })
    await clock.advance(5_000)
    await called
    expect(log).toEqual(['hook onStart: not done after 5000 ms'])
  })

  it('keeps the hook its `this`, and does without one that is not given', async () => {
    class Counter implements WorkerHooks {
      starts = 0
      onStart(): void {
        this.starts++
      }
    }
    const hooks = new Counter()
    const { runner, log } = runnerOf(hooks)
    expect([runner.has('onStart'), runner.has('onStop')]).toEqual([true, false])
    await runner.call('onStart', { workerId: 'w' })
    await runner.call('onStop', { workerId: 'w', requested: false })
    expect([hooks.starts, log]).toEqual([1, []])
  })
})
