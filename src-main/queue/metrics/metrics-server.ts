import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { AppError, toAppError } from '../../kernel/index.ts'

const host = '127.0.0.1'
const mostConnections = 16
/** For a request to arrive; an answer has the reading's own deadline. */
const requestTimeoutMs = 2_000
/** Node looks for late requests every 30 s: so long a few connections that say nothing would keep everyone else out. */
const connectionsCheckingInterval = 500

/** What is shown: figures of one worker, or of what the app sees. */
export interface MetricsPage {
  readonly contentType: string
  /** Prometheus' text, made anew for each scrape. */
  text(): Promise<string>
}

export interface MetricsServer {
  /** http://127.0.0.1:PORT/metrics */
  readonly url: string
  /** Ends at once, scrapes under way included. Idempotent. */
  stop(): Promise<void>
}

/**
 * Answers GET /metrics on the loopback address, without a token: the figures hold type names and error codes, no payloads. The Host
 * header is checked, so that a page of a browser on this machine cannot read them through a name of its own. Throws INVALID_INPUT
 * when the port is taken. `onProblem` gets a line for the log that says why a scrape was answered with 500: the answer itself says nothing
 * of it. It may throw: then nobody hears the reason.
 */
export async function startMetricsServer(
  metrics: MetricsPage,
  port: number,
  onProblem: (line: string) => void
): Promise<MetricsServer> {
  const server = createServer({
    requestTimeout: requestTimeoutMs,
    headersTimeout: requestTimeoutMs,
    connectionsCheckingInterval
  })
  server.maxConnections = mostConnections
  await listen(server, port)
  const { port: actual } = server.address() as AddressInfo
  const allowedHosts = [`${host}:${actual}`, `localhost:${actual}`]
  const page: ServedPage = { metrics, allowedHosts, onProblem }
  server.on('request', (request, response) => void answer(page, request, response))
  server.unref() // the figures of a process are no reason for it to go on
  return { url: `http://${host}:${actual}/metrics`, stop: () => stop(server) }
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause) => {
      const text = `The metrics cannot be offered on port ${port} of ${host}: choose another one.`
      reject(new AppError('INVALID_INPUT', 'user', text, { cause, details: { port } }))
    })
    server.listen({ port, host, exclusive: true }, resolve)
  })
}

function stop(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve())
    server.closeAllConnections()
  })
}

interface ServedPage {
  readonly metrics: MetricsPage
  readonly allowedHosts: readonly string[]
  readonly onProblem: (line: string) => void
}

async function answer(
  { metrics, allowedHosts, onProblem }: ServedPage,
  request: IncomingMessage,
  response: ServerResponse
): Promise<void> {
  const refuse = (status: number, text: string): void => {
    response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(`${text}\n`)
  }
  request.resume()
  if (!allowedHosts.includes(request.headers.host ?? '')) return refuse(403, 'This host name is not answered.')
  if (request.url !== '/metrics') return refuse(404, 'Only /metrics is here.')
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    response.setHeader('allow', 'GET, HEAD')
    return refuse(405, 'Only GET is answered.')
  }
  try {
    const text = await metrics.text()
    response
      .writeHead(200, { 'content-type': metrics.contentType, 'cache-control': 'no-store' })
      .end(request.method === 'HEAD' ? undefined : text)
  } catch (error) {
    refuse(500, 'The metrics could not be written.')
    tell(onProblem, toAppError(error))
  }
}

/** It may be the logger of a service that embeds the worker: what it throws must not end that service as an unhandled rejection. */
function tell(onProblem: ServedPage['onProblem'], { code, message }: AppError): void {
  try {
    onProblem(`metrics: ${code}: ${message}`)
  } catch {
    // The log itself is what failed: there is nowhere left to say so.
  }
}
