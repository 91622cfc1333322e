import { beforeEach, describe, expect, it } from 'vitest'
import { AppError } from '../kernel/index.ts'
import type { Clock, QueueReading } from '../kernel/index.ts'
import { emptyReading } from '../kernel/reading.fixture.ts'
import { createSampler } from './sampler.ts'
import type { Sampler, SamplerOptions, SamplerState, Tick } from './sampler.ts'

/** Time passes only in `advance`, which lets everything that it wakes run to its next wait. */
class ManualClock implements Clock {
  private time = 0
  private sleepers: { at: number; wake: () => void }[] = []
  now = (): number => 1_767_614_400_000 + this.time
  monotonic = (): number => this.time
  random = (): number => 0

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const sleeper = { at: this.time + ms, wake: resolve }
      const onAbort = (): void => {
        this.sleepers = this.sleepers.filter((other) => other !== sleeper)
        reject(new DOMException('aborted', 'AbortError'))
      }
      if (signal?.aborted) return onAbort()
      this.sleepers.push(sleeper)
      signal?.addEventListener('abort', onAbort, { once: true })
    })
  }

  async advance(ms: number): Promise<void> {
    const end = this.time + ms
    await settled()
    for (;;) {
      const next = this.sleepers.sort((a, b) => a.at - b.at)[0]
      if (!next || next.at > end) break
      this.sleepers.shift()
      this.time = next.at
      next.wake()
      await settled()
    }
    this.time = end
  }

  get waiting(): number {
    return this.sleepers.length
  }
}
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

const reading = (costMs = 5): QueueReading => emptyReading({ costMs })

let clock: ManualClock
let ticks: Tick[]
let states: SamplerState[]
let calls: number
let read: (signal: AbortSignal) => Promise<QueueReading>
beforeEach(() => {
  clock = new ManualClock()
  ticks = []
  states = []
  calls = 0
  read = () => Promise.resolve(reading())
})

const make = (more: Partial<SamplerOptions> = {}): Sampler =>
  createSampler({
    connectionId: 'local',
    read: (signal) => {
      calls++
      return read(signal)
    },
    clock,
    onTick: (tick) => ticks.push(tick),
    onState: (state) => states.push(state),
    ...more
  })
const lost = () => new AppError('CONNECTION_LOST', 'operational', 'gone')
const fail = (): Promise<QueueReading> => Promise.reject(lost())
const never = (): Promise<QueueReading> => new Promise(() => undefined)

describe('sampler', () => {
  it('reads at once and then at its interval, numbering the ticks', async () => {
    const sampler = make()
    sampler.start()
    await clock.advance(4_000)
    expect(ticks.map(({ seq, connectionId }) => [connectionId, seq])).toEqual([1, 2, 3].map((n) => ['local', n]))
    expect(ticks[0]?.points.map(({ metric }) => metric)).toContain('depth')
    expect(states[0]).toEqual({ status: 'connecting' })
    expect(sampler.state).toEqual({ status: 'live', lastReadingAt: clock.now() })
    await sampler.stop()
  })

  it('starts and stops any number of times with one timer, and goes on counting', async () => {
    const sampler = make({ lastSeq: 10 })
    sampler.start()
    sampler.start()
    await clock.advance(2_000)
    expect(calls).toBe(2)
    expect(clock.waiting).toBe(1)
    await sampler.stop()
    await sampler.stop()
    expect(clock.waiting).toBe(0)
    await clock.advance(60_000)
    expect(calls).toBe(2)
    sampler.start()
    await clock.advance(0)
    expect(ticks.map(({ seq }) => seq)).toEqual([11, 12, 13])
    await sampler.stop()
  })

  it('drops a reading that comes after stop', async () => {
    let answer = (): void => undefined
    read = () => new Promise((resolve) => (answer = () => resolve(reading())))
    const sampler = make()
    sampler.start()
    await clock.advance(0)
    await sampler.stop()
    answer()
    await settled()
    expect(ticks).toEqual([])
    expect(clock.waiting).toBe(0)
  })

  it('backs off 1, 2, 4 ... 30 s while it fails, says so, and goes on by itself', async () => {
    const sampler = make()
    sampler.start()
    await clock.advance(0)
    const since = clock.now()
    read = fail
    await clock.advance(2_000)
    for (const seconds of [1, 2, 4, 8, 16, 30, 30]) {
      expect(sampler.state).toMatchObject({ status: 'lost', since, nextTryAt: clock.now() + seconds * 1000 })
      await clock.advance(seconds * 1000)
    }
    expect(sampler.state).toMatchObject({ failures: 8, error: { code: 'CONNECTION_LOST' } })
    read = () => Promise.resolve(reading())
    await clock.advance(30_000)
    expect(sampler.state).toEqual({ status: 'live', lastReadingAt: clock.now() })
    read = fail
    await clock.advance(2_000)
    expect(sampler.state).toMatchObject({ failures: 1 })
    await sampler.stop()
  })

  it('does not say since when, if there never was a reading, and makes a bug of what is no AppError', async () => {
    read = () => {
      throw new TypeError('oops')
    }
    const sampler = make()
    sampler.start()
    await clock.advance(0)
    expect(sampler.state).toMatchObject({ status: 'lost', since: null, error: { code: 'BUG' } })
    await sampler.stop()
  })

  it('tries at once when asked to', async () => {
    read = fail
    const sampler = make()
    sampler.start()
    await clock.advance(1_000 + 2_000)
    expect(calls).toBe(3)
    read = () => Promise.resolve(reading())
    sampler.retryNow()
    await clock.advance(0)
    expect(sampler.state).toMatchObject({ status: 'live' })
    expect(calls).toBe(4)
    await sampler.stop()
  })

  it('gives a reading up at its deadline, never has two in flight, and reads at once when the late one lands', async () => {
    let answer = (): void => undefined
    read = () => new Promise((resolve) => (answer = () => resolve(reading())))
    const sampler = make({ deadlineMs: 10_000 })
    sampler.start()
    await clock.advance(10_000)
    expect(sampler.state).toMatchObject({ status: 'lost', error: { code: 'STATEMENT_TIMEOUT' }, failures: 1 })
    await clock.advance(1_000 + 10_000 + 500)
    expect(sampler.state).toMatchObject({ failures: 2 })
    expect(calls).toBe(1)
    const late = answer
    read = () => Promise.resolve(reading())
    late()
    await clock.advance(0)
    expect(calls).toBe(2)
    expect(sampler.state).toMatchObject({ status: 'live' })
    expect(ticks).toHaveLength(1)
    await sampler.stop()
  })

  it('tells a reading that nobody waits for it any more: past its deadline, and when it stops', async () => {
    const signals: AbortSignal[] = []
    read = (signal) => {
      signals.push(signal)
      return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(lost())))
    }
    const sampler = make({ deadlineMs: 10_000 })
    sampler.start()
    await clock.advance(9_999)
    expect(signals.map(({ aborted }) => aborted)).toEqual([false])
    await clock.advance(1)
    expect(signals.map(({ aborted }) => aborted)).toEqual([true])
    await clock.advance(1_000)
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, false])
    await sampler.stop()
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, true])
  })

  it('does not wait for ever for a reading that never comes back', async () => {
    read = never
    const sampler = make()
    sampler.start()
    await clock.advance(50_000)
    expect(calls).toBe(1)
    read = () => Promise.resolve(reading())
    await clock.advance(60_000)
    expect(sampler.state).toMatchObject({ status: 'live' })
    await sampler.stop()
  })

  it('reads less often when readings cost much, and as often as before when they are cheap again', async () => {
    let costMs = 100
    read = () => Promise.resolve(reading(costMs))
    const sampler = make()
    sampler.start()
    await clock.advance(4_000)
    expect(sampler.intervalMs).toBe(10_000)
    await clock.advance(9_999)
    expect(calls).toBe(3)
    await clock.advance(1)
    expect(calls).toBe(4)
    costMs = 5_000
    await clock.advance(60_000)
    expect(sampler.intervalMs).toBe(30_000)
    costMs = 1
    await clock.advance(300_000)
    expect(sampler.intervalMs).toBe(2_000)
    await sampler.stop()
  })

  it('goes on when a listener throws, and reports the bug', async () => {
    const bugs: AppError[] = []
    const onTick = (): void => {
      throw new Error('listener')
    }
    const sampler = make({ onTick, onBug: (error) => bugs.push(error) })
    sampler.start()
    await clock.advance(2_000)
    expect(bugs.map(({ message }) => message)).toEqual(['listener', 'listener'])
    await sampler.stop()
  })
})
