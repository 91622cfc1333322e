import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { WebSocketServer, type WebSocket } from 'ws'
import { z } from 'zod'
import { createPageFiles, maxMessageBytes, securityHeaders, type PageFiles, type ServePage } from '../../app/index.ts'
import { refuse } from './gate.ts'
import type { Sessions } from './sessions.ts'

/** Limits of one page's server; generous for a page, small for an attacker. */
const maxSockets = 64
const maxPages = 16
const maxHeaderBytes = 16_384
const maxBodyBytes = 1_024
const headersTimeoutMs = 5_000
const requestTimeoutMs = 10_000
const keepAliveTimeoutMs = 5_000
const checkingIntervalMs = 1_000
/** A page that does not read: its line is cut before its unread events fill the memory. */
const maxUnsentBytes = 32 * 1_048_576

const tokenBody = z.strictObject({ token: z.string().min(1).max(200) })

export interface HttpServerOptions {
  /** 0 chooses a free one. */
  readonly port: number
  /** Folder of the built page. */
  readonly root: string
  readonly sessions: Sessions
  readonly servePage: ServePage
}

export interface HttpServer {
  readonly port: number
  close(): Promise<void>
}

/** Listens on 127.0.0.1 only. Rejects with the system's error, such as EADDRINUSE. */
export async function startHttpServer(options: HttpServerOptions): Promise<HttpServer> {
  const files = createPageFiles(options.root)
  const server = createServer({
    maxHeaderSize: maxHeaderBytes,
    headersTimeout: headersTimeoutMs,
    requestTimeout: requestTimeoutMs,
    keepAliveTimeout: keepAliveTimeoutMs,
    connectionsCheckingInterval: checkingIntervalMs
  })
  server.maxConnections = maxSockets
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: maxMessageBytes,
    perMessageDeflate: false,
    handleProtocols: () => 'orpc'
  })
  const port = await listen(server, options.port)
  server.on('request', (request, response) => {
    answer({ request, response, port, files, sessions: options.sessions }).catch(() => response.destroy())
  })
  server.on('upgrade', (request, socket, head) => {
    socket.on('error', () => socket.destroy())
    const status =
      refuseUpgrade(request, port, options.sessions) ?? (sockets.clients.size >= maxPages ? 503 : undefined)
    if (status) return endSocket(socket, status)
    sockets.handleUpgrade(request, socket, head, (webSocket) => attach(webSocket, options.servePage))
  })
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    // A browser opens sockets in advance: what nobody asked for would be taken for the answer to the request that it sends just now. A
    // request that came half in all that time has no answer either.
    if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') return void socket.destroy()
    endSocket(socket, 400)
  })
  return { port, close: () => close(server, sockets) }
}

interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly port: number
  readonly files: PageFiles
  readonly sessions: Sessions
}

async function answer(exchange: Exchange): Promise<void> {
  const { request, response, port, files, sessions } = exchange
  for (const [name, value] of Object.entries(securityHeaders)) response.setHeader(name, value)
  const isRead = request.method === 'GET' || request.method === 'HEAD'
  const refusal = refuse(request, port, !isRead)
  if (refusal) return text(response, refusal.status, refusal.reason)
  const { pathname } = new URL(request.url ?? '/', 'http://page')
  if (pathname === '/session') return answerSession(exchange)
  if (!isRead) return text(response, 405, 'method not allowed')
  if (pathname === '/health') return text(response, 200, 'ok')
  const file = await files.read(pathname)
  if (!file) return text(response, 404, 'not found')
  response.writeHead(200, { ...file.headers, 'content-length': file.body.byteLength })
  response.end(request.method === 'HEAD' ? undefined : file.body)

  function answerSession(given: Exchange): Promise<void> | void {
    if (request.method === 'POST') return exchangeToken(given)
    if (request.method !== 'GET') return text(response, 405, 'method not allowed')
    const session = /^Bearer ([\w-]{1,200})$/.exec(request.headers.authorization ?? '')?.[1]
    if (session === undefined || !sessions.isKnown(session)) return text(response, 401, 'unknown session')
    response.writeHead(204).end()
  }
}

async function exchangeToken({ request, response, sessions }: Exchange): Promise<void> {
  // The type that a form or a "simple" request of another page cannot have.
  if (!/^application\/json(?:; ?charset=utf-8)?$/i.test(request.headers['content-type'] ?? ''))
    return json(response, 415, { error: 'BAD_REQUEST' })
  const body = await readBody(request)
  if (body === undefined) return json(response, 413, { error: 'BAD_REQUEST' })
  const parsed = tokenBody.safeParse(parseJson(body))
  if (!parsed.success) return json(response, 400, { error: 'BAD_REQUEST' })
  const result = sessions.exchange(parsed.data.token)
  if ('session' in result) return json(response, 200, result)
  json(response, result.refused === 'TOO_MANY_TRIES' ? 429 : 403, { error: result.refused })
}

/** undefined when it is too long; the rest is then not read. */
async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.byteLength
    if (bytes > maxBodyBytes) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function parseJson(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}

function text(response: ServerResponse, status: number, body: string): void {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', ...hangUp(status) }).end(`${body}\n`)
}

function json(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json', ...hangUp(status) }).end(JSON.stringify(body))
}

/** A refused sender's socket is not kept: an unread body must not become the next request. */
const hangUp = (status: number): Record<string, string> => (status >= 400 ? { connection: 'close' } : {})

/** A browser cannot set headers on a WebSocket, so the session comes as a sub-protocol (docs/transport.md). */
function refuseUpgrade(request: IncomingMessage, port: number, sessions: Sessions): number | undefined {
  const refusal = refuse(request, port, true)
  if (refusal) return refusal.status
  if (request.method !== 'GET' || request.url !== '/rpc') return 404
  const offered = (request.headers['sec-websocket-protocol'] ?? '').split(',').map((name) => name.trim())
  const session = offered.find((name) => name.startsWith('token.'))?.slice('token.'.length)
  if (!offered.includes('orpc') || session === undefined || !sessions.isKnown(session)) return 401
  return undefined
}

const statusTexts: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  503: 'Service Unavailable'
}

function endSocket(socket: Duplex, status: number): void {
  if (!socket.writable) return void socket.destroy()
  socket.end(`HTTP/1.1 ${status} ${statusTexts[status]}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`)
  socket.once('finish', () => socket.destroy())
}

function attach(webSocket: WebSocket, servePage: ServePage): void {
  const page = servePage({
    send: (message) =>
      new Promise((resolve, reject) => {
        if (webSocket.bufferedAmount > maxUnsentBytes) webSocket.terminate()
        webSocket.send(message, (error) => (error ? reject(error) : resolve()))
      }),
    close: () => webSocket.close(1008)
  })
  webSocket.on('message', (data, isBinary) => page.receive(isBinary ? data : asText(data)))
  webSocket.on('close', () => page.end())
  webSocket.on('error', () => undefined) // the library closes it, with a code that says why
}

function asText(data: Buffer | ArrayBuffer | Buffer[]): string {
  if (Array.isArray(data)) return Buffer.concat(data).toString('utf8')
  return Buffer.isBuffer(data) ? data.toString('utf8') : Buffer.from(data).toString('utf8')
}

function listen(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host: '127.0.0.1', port, exclusive: true }, () => {
      server.off('error', reject)
      resolve((server.address() as AddressInfo).port)
    })
  })
}

async function close(server: Server, sockets: WebSocketServer): Promise<void> {
  for (const client of sockets.clients) client.terminate()
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  server.closeAllConnections()
  await closed
}
