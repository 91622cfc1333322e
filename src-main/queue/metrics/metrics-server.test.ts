import { request } from 'node:http'
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { QueueMetrics } from './queue-metrics.ts'
import { startMetricsServer } from './metrics-server.ts'

const metrics = { contentType: 'text/plain', text: () => Promise.resolve('taskdeck_up 1\n') } as QueueMetrics

async function serve(shown = metrics, onProblem: (line: string) => void = () => undefined): Promise<URL> {
  const server = await startMetricsServer(shown, 0, onProblem)
  onTestFinished(() => server.stop())
  return new URL(server.url)
}

/** `fetch` chooses the Host header itself. */
function ask(
  url: URL,
  { method = 'GET', host = url.host } = {}
): Promise<{ status: number | undefined; body: string }> {
  return new Promise((resolve, reject) => {
    const asked = request(url, { method, headers: { host } }, (response) => {
      let body = ''
      response.on('data', (data: Buffer) => (body += data.toString()))
      response.on('end', () => resolve({ status: response.statusCode, body }))
    })
    asked.on('error', reject)
    asked.end()
  })
}

describe('the metrics server', () => {
  it('listens on the loopback address and shows the figures', async () => {
    const url = await serve()
    expect(url.hostname).toBe('127.0.0.1')
    expect(await ask(url)).toEqual({ status: 200, body: 'taskdeck_up 1\n' })
    expect(await ask(url, { host: `localhost:${url.port}` })).toMatchObject({ status: 200 })
    expect(await ask(url, { method: 'HEAD' })).toEqual({ status: 200, body: '' })
  })

  it.each(['evil.example', '127.0.0.1', 'localhost:1', '127.0.0.1.evil.example:80'])(
    'answers nothing under the name %j',
    async (host) => {
      const { status, body } = await ask(await serve(), { host })
      expect(status).toBe(403)
      expect(body).not.toContain('taskdeck_up')
    }
  )

  it('has one page, which can only be read', async () => {
    const url = await serve()
    expect(await ask(new URL('/', url))).toMatchObject({ status: 404 })
    expect(await ask(url, { method: 'POST' })).toMatchObject({ status: 405 })
  })

  it('says 500, tells its own process why, and goes on when the figures cannot be written', async () => {
    const broken = { ...metrics, text: () => Promise.reject(new Error('secret detail')) } as QueueMetrics
    const lines: string[] = []
    const { status, body } = await ask(await serve(broken, (line) => lines.push(line)))
    expect(status).toBe(500)
    expect(body).not.toContain('secret')
    expect(lines).toEqual(['metrics: BUG: secret detail'])
  })

  it('says 500 and hurts nobody when the log that is told why fails itself', async () => {
    const unhandled: unknown[] = []
    const see = (reason: unknown): void => void unhandled.push(reason)
    process.prependListener('unhandledRejection', see)
    onTestFinished(() => void process.off('unhandledRejection', see))
    const broken = { ...metrics, text: () => Promise.reject(new Error('broken')) } as QueueMetrics
    const url = await serve(broken, () => {
      throw new Error('the log is full')
    })
    expect(await ask(url)).toMatchObject({ status: 500 })
    // Rejections that nobody handles are told after the turn in which they came about.
    await new Promise(setImmediate)
    expect(unhandled).toEqual([])
  })

  it('answers again soon after it was filled with connections that say nothing', async () => {
    const url = await serve()
    const silent = Array.from({ length: 16 }, () => connect(Number(url.port), url.hostname))
    onTestFinished(() => silent.forEach((socket) => socket.destroy()))
    await Promise.all(silent.map((socket) => once(socket, 'connect')))
    // Until the server lets go of them; by its default it would do so only after half a minute.
    await Promise.all(silent.map((socket) => once(socket.resume(), 'close')))
    expect(await ask(url)).toMatchObject({ status: 200 })
  })

  it('names the port that is taken', async () => {
    const taken = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => taken.once('listening', resolve))
    onTestFinished(() => void taken.close())
    const { port } = taken.address() as { port: number }
    await expect(startMetricsServer(metrics, port, () => undefined)).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      kind: 'user',
      details: { port }
    })
  })

  it('stops twice', async () => {
    const server = await startMetricsServer(metrics, 0, () => undefined)
    await server.stop()
    await server.stop()
    await expect(ask(new URL(server.url))).rejects.toMatchObject({ code: 'ECONNREFUSED' })
  })
})
