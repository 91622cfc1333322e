import { RPCLink as PortLink } from '@orpc/client/message-port'
import { RPCLink as SocketLink } from '@orpc/client/websocket'
import type { ClientLink } from '@orpc/client'

/** One carrier of calls; it dies once and is never revived. */
export interface Carrier {
  readonly link: ClientLink<Record<never, never>>
  /** Resolves when the carrier is dead. */
  readonly closed: Promise<void>
  close(): void
}

/** `gone`: try again later. `refused`: trying again is of no use, the reader has to do something. */
export type OpenFailure = { readonly kind: 'gone' } | { readonly kind: 'refused'; readonly code: string }

export class OpenError extends Error {
  readonly failure: OpenFailure
  constructor(failure: OpenFailure) {
    super(failure.kind === 'gone' ? 'the app cannot be reached' : `the app refused this page: ${failure.code}`)
    this.failure = failure
  }
}

declare global {
  interface Window {
    /** Set by the desktop's preload; a browser has none. */
    readonly taskdeck?: { readonly shell: 'electron' }
  }
}

/** Desktop: hands one end of a fresh channel to the preload (docs/transport.md). */
export function openPort(): Promise<Carrier> {
  const { port1, port2 } = new MessageChannel()
  window.postMessage('orpc:connect', '*', [port2])
  const closed = new Promise<void>((resolve) => port1.addEventListener('close', () => resolve(), { once: true }))
  const link = new PortLink({ port: port1 })
  port1.start()
  return Promise.resolve({ link, closed, close: () => port1.close() })
}

const sessionKey = 'taskdeck.session'
const openMs = 5_000

/**
 * Takes the one-time token out of the address at once, so that it neither stays in the history nor meets the router.
 * Anything else in the fragment is the route and stays.
 */
export function takeToken(): string | null {
  const token = /^#token=([^&]+)$/.exec(location.hash)?.[1] ?? null
  if (token !== null) history.replaceState(history.state, '', `${location.pathname}${location.search}#/`)
  return token
}

/**
 * Browser: exchanges the token once it has an answer to it, then opens the socket, as often as it is called. The opener throws
 * an OpenError.
 */
export function socketOpener(token: string | null): () => Promise<Carrier> {
  let unspent = token
  let refusal: string | null = null
  return async () => {
    if (unspent !== null) refusal = await exchange(unspent)
    unspent = null
    const session = sessionStorage.getItem(sessionKey)
    if (session === null) throw new OpenError({ kind: 'refused', code: refusal ?? 'NO_SESSION' })
    return openSocket(session, refusal)
  }
}

async function openSocket(session: string, refusal: string | null): Promise<Carrier> {
  const scheme = location.protocol === 'https:' ? 'wss' : 'ws'
  const socket = new WebSocket(`${scheme}://${location.host}/rpc`, ['orpc', `token.${session}`])
  const closed = new Promise<void>((resolve) => socket.addEventListener('close', () => resolve(), { once: true }))
  const opened = new Promise<true>((resolve) => socket.addEventListener('open', () => resolve(true), { once: true }))
  const link = new SocketLink({ websocket: socket })
  if (!(await Promise.race([opened, closed.then(() => false), after(openMs)]))) {
    socket.close()
    throw new OpenError(await whyRefused(session, refusal))
  }
  return { link, closed, close: () => socket.close() }
}

/** Returns null when the token bought a session, otherwise the code of the refusal. */
async function exchange(token: string): Promise<string | null> {
  const response = await request('/session', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ token })
  })
  const answer = (await response.json().catch(() => ({}))) as { session?: string; error?: string }
  if (!response.ok || !answer.session) return answer.error ?? 'BAD_REQUEST'
  sessionStorage.setItem(sessionKey, answer.session)
  return null
}

async function whyRefused(session: string, refusal: string | null): Promise<OpenFailure> {
  const response = await request('/session', { headers: { authorization: `Bearer ${session}` } }).catch(() => null)
  if (response?.status !== 401) return { kind: 'gone' }
  sessionStorage.removeItem(sessionKey)
  return { kind: 'refused', code: refusal ?? 'SESSION_OVER' }
}

async function request(path: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(path, { ...init, cache: 'no-store', signal: AbortSignal.timeout(openMs) })
  } catch {
    throw new OpenError({ kind: 'gone' })
  }
}

const after = (ms: number): Promise<false> => new Promise((resolve) => setTimeout(() => resolve(false), ms))
