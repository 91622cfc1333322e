import { ORPCError } from '@orpc/client'
import { describe, expect, it, vi } from 'vitest'
import type { Carrier } from './link.ts'
import { OpenError } from './link.ts'
import { AppGoneError, toProblem } from './problem.ts'
import { createTransport } from './transport.ts'

/** A carrier that answers every call, until the test ends it. */
function carrier(): Carrier & { die: () => void } {
  let die: () => void = () => undefined
  const closed = new Promise<void>((resolve) => (die = resolve))
  return { link: { call: () => Promise.resolve({}) }, closed, close: () => die(), die }
}
const untilAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('ended')), { once: true }))

describe('createTransport', () => {
  it('opens a new carrier when one dies, and says so meanwhile', async () => {
    const carriers = [carrier(), carrier()]
    const open = vi.fn(() => Promise.resolve(carriers[open.mock.calls.length - 1]!))
    const transport = createTransport(open)
    const end = new AbortController()
    const lives = vi.fn(untilAborted)
    const running = transport.run(lives, end.signal)
    await vi.waitFor(() => expect(transport.status.value.kind).toBe('open'))
    carriers[0]!.die()
    await vi.waitFor(() => expect(transport.status.value.kind).toBe('gone'))
    await vi.waitFor(() => expect(lives).toHaveBeenCalledTimes(2))
    expect(transport.status.value.kind).toBe('open')
    end.abort()
    await running
  })

  it('fails calls at once while there is no carrier', async () => {
    const transport = createTransport(() => Promise.resolve(carrier()))
    await expect(transport.client.app.info()).rejects.toBeInstanceOf(AppGoneError)
  })

  it('does not try again when the app refuses this page', async () => {
    const open = vi.fn(() => Promise.reject(new OpenError({ kind: 'refused', code: 'TOKEN_USED' })))
    const transport = createTransport(open)
    await transport.run(() => Promise.resolve(), new AbortController().signal)
    expect(transport.status.value).toEqual({ kind: 'refused', code: 'TOKEN_USED' })
    expect(open).toHaveBeenCalledOnce()
  })
})

describe('toProblem', () => {
  it('takes a problem as it was thrown, and hides nothing behind a bug', () => {
    const data = { code: 'READ_ONLY', kind: 'user', message: 'read-only', details: {} }
    expect(toProblem(new ORPCError('PROBLEM', { data }))).toEqual(data)
    expect(toProblem(new ORPCError('BAD_REQUEST', { message: 'no' })).code).toBe('BAD_REQUEST')
    expect(toProblem(new ORPCError('INTERNAL_SERVER_ERROR', { message: 'ref 7' }))).toMatchObject({
      code: 'BUG',
      message: 'ref 7'
    })
    expect(toProblem(new AppGoneError()).code).toBe('APP_GONE')
  })
})
