import { afterEach, describe, expect, it, vi } from 'vitest'
import { OpenError, socketOpener, takeToken } from './link.ts'

afterEach(() => {
  vi.unstubAllGlobals()
  sessionStorage.clear()
  location.hash = ''
})
const answer = (status: number, body: object): Response => new Response(JSON.stringify(body), { status })

/** A socket that the server refuses. */
class RefusedSocket extends EventTarget {
  readonly protocols: string[]
  constructor(_url: string, protocols: string[]) {
    super()
    this.protocols = protocols
    sockets.push(this)
    queueMicrotask(() => this.dispatchEvent(new Event('close')))
  }
  readonly readyState = 3
  close(): void {}
}
let sockets: RefusedSocket[] = []

describe('takeToken', () => {
  it('takes the token out of the address and leaves any other fragment alone', () => {
    location.hash = '#token=abc'
    expect(takeToken()).toBe('abc')
    expect(location.hash).toBe('#/')
    location.hash = '#/c/local/overview'
    expect(takeToken()).toBeNull()
    expect(location.hash).toBe('#/c/local/overview')
  })
})

describe('socketOpener', () => {
  it('says that a used token is refused', async () => {
    vi.stubGlobal('fetch', () => Promise.resolve(answer(403, { error: 'TOKEN_USED' })))
    await expect(socketOpener('abc')()).rejects.toMatchObject({ failure: { kind: 'refused', code: 'TOKEN_USED' } })
  })

  it('keeps the token while the server cannot be reached, and spends it once', async () => {
    sockets = []
    vi.stubGlobal('WebSocket', RefusedSocket)
    const fetch = vi.fn<(path: string, init?: RequestInit) => Promise<Response>>()
    vi.stubGlobal('fetch', fetch)
    const open = socketOpener('abc')
    fetch.mockRejectedValueOnce(new TypeError('offline'))
    await expect(open()).rejects.toMatchObject({ failure: { kind: 'gone' } })
    fetch
      .mockResolvedValueOnce(answer(200, { session: 'S' }))
      .mockResolvedValueOnce(new Response(null, { status: 204 }))
    await expect(open()).rejects.toBeInstanceOf(OpenError)
    expect(sockets[0]?.protocols).toEqual(['orpc', 'token.S'])
    expect(sessionStorage.getItem('taskdeck.session')).toBe('S')
    expect(fetch.mock.calls.filter(([, init]) => init?.method === 'POST')).toHaveLength(2)
  })

  it('tells a session that is over from a server that is gone', async () => {
    vi.stubGlobal('WebSocket', RefusedSocket)
    sessionStorage.setItem('taskdeck.session', 'OLD')
    vi.stubGlobal('fetch', () => Promise.resolve(new Response(null, { status: 401 })))
    await expect(socketOpener(null)()).rejects.toMatchObject({ failure: { kind: 'refused', code: 'SESSION_OVER' } })
    expect(sessionStorage.getItem('taskdeck.session')).toBeNull()
  })
})
