import { describe, expect, it } from 'vitest'
import { systemClock, type Clock } from '../../kernel/index.ts'
import { Sessions } from './sessions.ts'

const session = (result: ReturnType<Sessions['exchange']>): string => ('session' in result ? result.session : '')

describe('sessions', () => {
  it('gives one session for a token of 256 bits, to whoever is first', () => {
    const sessions = new Sessions(systemClock)
    const token = sessions.issueToken()
    expect(Buffer.from(token, 'base64url')).toHaveLength(32)
    const first = session(sessions.exchange(token))
    expect(sessions.isKnown(first)).toBe(true)
    expect(first).not.toBe(token)
    expect(sessions.exchange(token)).toEqual({ refused: 'TOKEN_USED' })
  })

  it('knows no session that it did not give', () => {
    const sessions = new Sessions(systemClock)
    const token = sessions.issueToken()
    expect(sessions.isKnown(token)).toBe(false)
    expect(sessions.isKnown('')).toBe(false)
    expect(sessions.exchange('')).toEqual({ refused: 'TOKEN_UNKNOWN' })
  })

  it('lets a new token replace an unused one, and keeps the sessions', () => {
    const sessions = new Sessions(systemClock)
    const old = sessions.issueToken()
    const first = session(sessions.exchange(sessions.issueToken()))
    const second = session(sessions.exchange(sessions.issueToken()))
    expect(sessions.exchange(old)).toEqual({ refused: 'TOKEN_UNKNOWN' })
    expect([first, second].map((one) => sessions.isKnown(one))).toEqual([true, true])
  })

  it('slows guessing down, yet never locks the right token out', () => {
    let now = 0
    const clock: Clock = { ...systemClock, monotonic: () => now }
    const sessions = new Sessions(clock)
    const token = sessions.issueToken()
    for (let n = 0; n < 20; n++) expect(sessions.exchange(`wrong ${n}`)).toEqual({ refused: 'TOKEN_UNKNOWN' })
    expect(sessions.exchange('wrong')).toEqual({ refused: 'TOO_MANY_TRIES' })
    now += 60_000
    expect(sessions.exchange('wrong')).toEqual({ refused: 'TOKEN_UNKNOWN' })
    for (let n = 0; n < 40; n++) sessions.exchange('wrong')
    expect(session(sessions.exchange(token))).not.toBe('')
  })
})
