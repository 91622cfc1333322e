import { expect, it, vi } from 'vitest'
import { pause, systemClock, withDeadline } from './clock.ts'

it('ends a sleep when its signal aborts, and at once when it already has', async () => {
  const stop = new AbortController()
  const sleeping = systemClock.sleep(60_000, stop.signal)
  stop.abort(new Error('stopped'))
  await expect(sleeping).rejects.toThrow('stopped')
  await expect(systemClock.sleep(60_000, stop.signal)).rejects.toThrow('stopped')
})

it('sleeps for longer than one timer can: 49 days are not over at once', async () => {
  vi.useFakeTimers()
  try {
    const days = 24 * 3_600_000
    let isOver = false
    const sleeping = systemClock.sleep(49 * days).then(() => (isOver = true))
    await vi.advanceTimersByTimeAsync(49 * days - 1)
    expect(isOver).toBe(false)
    await vi.advanceTimersByTimeAsync(1)
    await sleeping
    const stop = new AbortController()
    const stopped = pause(systemClock, 49 * days, stop.signal)
    await vi.advanceTimersByTimeAsync(30 * days)
    stop.abort()
    expect(await stopped).toBe(false)
    expect(vi.getTimerCount()).toBe(0)
  } finally {
    vi.useRealTimers()
  }
})

it('rejects with the given error when work outlasts its deadline', async () => {
  await expect(withDeadline(systemClock, 1, new Promise(() => undefined), () => new Error('too late'))).rejects.toThrow(
    'too late'
  )
})

it('passes on the result and the failure of work that is in time', async () => {
  await expect(withDeadline(systemClock, 60_000, Promise.resolve(7), () => new Error('late'))).resolves.toBe(7)
  await expect(
    withDeadline(systemClock, 60_000, Promise.reject(new Error('own')), () => new Error('late'))
  ).rejects.toThrow('own')
})

it('tells a pause that is over from one that was stopped', async () => {
  const stop = new AbortController()
  expect(await pause(systemClock, 1, stop.signal)).toBe(true)
  const long = pause(systemClock, 60_000, stop.signal)
  stop.abort()
  expect(await long).toBe(false)
})
