import { chmodSync, lstatSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { AppError, toAppError, type Stoppable } from '../../kernel/index.ts'
import { chooseConnection } from './choose-connection.ts'
import type { SeenQueue } from './seen-queue.ts'
import type { StatusReport } from './status-report.ts'

/** Limits of a line between processes of one user: generous for a script, small for one that runs wild. */
const mostConnections = 8
const maxHeaderSize = 4_096
const requestTimeoutMs = 2_000
const connectionsCheckingInterval = 500

/** What the socket answers with when it is not the report. */
export interface StatusRefusal {
  readonly error: { readonly code: string; readonly message: string }
}

export interface StatusServerOptions {
  /** See `statusPlace`. */
  readonly place: string
  readonly seen: () => readonly SeenQueue[]
  readonly report: (queue: SeenQueue) => StatusReport
  readonly onBug: (error: unknown) => void
}

/**
 * Answers `GET /status?connection=NAME` with what the app sees, to processes of this user: the socket has mode 0600 in a folder of mode
 * 0700. It can only be read, and says from memory what is known: no question reaches a database. Throws FILE_UNAVAILABLE.
 */
export async function startStatusServer(options: StatusServerOptions): Promise<Stoppable> {
  const { place } = options
  removeStaleSocket(place)
  const server = createServer(
    { maxHeaderSize, requestTimeout: requestTimeoutMs, headersTimeout: requestTimeoutMs, connectionsCheckingInterval },
    (request, response) => answer(options, request, response)
  )
  server.maxConnections = mostConnections
  await listen(server, place)
  if (isFile(place)) chmodSync(place, 0o600)
  server.unref()
  return { stop: () => stop(server) }
}

/** What a crash left; the data folder is ours alone, so nobody listens on it. Anything but a socket stays. */
function removeStaleSocket(place: string): void {
  if (!isFile(place)) return
  const found = lstatSync(place, { throwIfNoEntry: false })
  if (found?.isSocket()) rmSync(place, { force: true })
}

const isFile = (place: string): boolean => !place.startsWith('\\\\')

function listen(server: Server, place: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause) => {
      const text = `Taskdeck cannot answer \`taskdeck status\`: ${place} cannot be opened.`
      reject(new AppError('FILE_UNAVAILABLE', 'operational', text, { cause, details: { path: place } }))
    })
    server.listen(place, resolve)
  })
}

/** Node removes the socket's file. */
function stop(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve())
    server.closeAllConnections()
  })
}

function answer(options: StatusServerOptions, request: IncomingMessage, response: ServerResponse): void {
  const send = (status: number, body: StatusReport | StatusRefusal): void => {
    response.writeHead(status, { 'content-type': 'application/json', connection: 'close' }).end(JSON.stringify(body))
  }
  const refuse = (status: number, code: string, message: string): void => send(status, { error: { code, message } })
  request.resume()
  if (request.method !== 'GET') return refuse(405, 'INVALID_INPUT', 'Only GET is answered.')
  const { pathname, searchParams } = urlOf(request)
  if (pathname !== '/status') return refuse(404, 'INVALID_INPUT', 'Only /status is here.')
  try {
    const queues = options.seen().map((queue) => ({ id: queue.view.id, name: queue.view.name, queue }))
    send(200, options.report(chooseConnection(queues, searchParams.get('connection')).queue))
  } catch (error) {
    const { code, kind, message } = toAppError(error)
    if (kind === 'user') return refuse(404, code, message)
    options.onBug(error)
    refuse(500, 'BUG', 'Something went wrong inside Taskdeck: its log has the details.')
  }
}

function urlOf({ url = '/' }: IncomingMessage): URL {
  const base = 'http://taskdeck'
  try {
    return new URL(url, base)
  } catch {
    return new URL(base)
  }
}
