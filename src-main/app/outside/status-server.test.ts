import { once } from 'node:events'
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { systemClock } from '../../kernel/index.ts'
import { askApp } from './ask-app.ts'
import { connectionView } from './outside.fixture.ts'
import type { SeenQueue } from './seen-queue.ts'
import { statusPlace } from './status-place.ts'
import { reportOfSeen } from './status-report.ts'
import { startStatusServer } from './status-server.ts'

const queues: SeenQueue[] = [
  { view: connectionView(), tick: undefined, ageMs: null, alerts: undefined },
  { view: connectionView({ id: 'b', name: 'Bücher & "x"' }), tick: undefined, ageMs: null, alerts: undefined }
]

function newPlace(): string {
  const folder = mkdtempSync(join(tmpdir(), 'taskdeck-status-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return statusPlace(folder, 'linux') ?? ''
}

async function serve(place = newPlace(), seen: () => SeenQueue[] = () => queues) {
  const bugs: unknown[] = []
  const report = (queue: SeenQueue) => reportOfSeen(queue, '1.2.3', () => [])
  const server = await startStatusServer({ place, seen, report, onBug: (error) => bugs.push(error) })
  onTestFinished(() => server.stop())
  return { place, server, bugs }
}

const ask = (place: string, connection: string | null) => askApp(place, connection, systemClock)

function raw(socketPath: string, options: { method?: string; path?: string; headers?: Record<string, string> }) {
  return new Promise<{ status: number | undefined; body: string }>((resolve, reject) => {
    const asked = request({ socketPath, agent: false, ...options }, (response) => {
      let body = ''
      response.on('data', (data: Buffer) => (body += data.toString()))
      response.on('end', () => resolve({ status: response.statusCode, body }))
    })
    asked.on('error', reject)
    asked.end()
  })
}

describe.runIf(process.platform !== 'win32')('the socket in the data folder', () => {
  it('is for its user only, answers by name and by id, and goes with the app', async () => {
    const { place, server } = await serve()
    expect(statSync(place).mode & 0o777).toBe(0o600)
    expect(await ask(place, 'Bücher & "x"')).toMatchObject({ source: 'app', connection: { name: 'Bücher & "x"' } })
    expect(await ask(place, 'orders')).toMatchObject({ verdict: 'unknown', connection: { name: 'Orders' } })
    await server.stop()
    expect(existsSync(place)).toBe(false)
    expect(await ask(place, 'orders')).toBeUndefined()
  })

  it('names the connections that there are', async () => {
    const { place } = await serve()
    const names = '"Orders", "Bücher & "x""'
    await expect(ask(place, 'Order')).rejects.toMatchObject({
      kind: 'user',
      message: expect.stringContaining(names) as string
    })
    await expect(ask(place, null)).rejects.toMatchObject({
      message: expect.stringContaining('Give --connection') as string
    })
    const alone = await serve(newPlace(), () => queues.slice(0, 1))
    expect(await ask(alone.place, null)).toMatchObject({ connection: { name: 'Orders' } })
  })

  it('asks for the id where two connections have one name', async () => {
    const twins = [connectionView(), connectionView({ id: 'b' })].map((view) => ({ ...queues[0], view }) as SeenQueue)
    const { place } = await serve(newPlace(), () => twins)
    await expect(ask(place, 'Orders')).rejects.toMatchObject({
      message: expect.stringContaining('orders, b') as string
    })
    expect(await ask(place, 'b')).toMatchObject({ connection: { name: 'Orders' } })
  })

  it('can only be read', async () => {
    const { place } = await serve()
    for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS'])
      expect(await raw(place, { method, path: '/status' })).toMatchObject({ status: 405 })
    for (const path of ['/', '/status/../lock.json', '//x', '/session', '/rpc'])
      expect(await raw(place, { path })).toMatchObject({ status: 404 })
  })

  it('says nothing of what failed inside, but to its own log', async () => {
    const { place, bugs } = await serve(newPlace(), () => {
      throw new Error('secret detail')
    })
    const { status, body } = await raw(place, { path: '/status' })
    expect(status).toBe(500)
    expect(body).not.toContain('secret')
    expect(bugs).toHaveLength(1)
  })

  it('refuses a request that is too large, and junk, and goes on', async () => {
    const { place } = await serve()
    expect(await raw(place, { path: `/status?connection=${'x'.repeat(8_000)}` })).toMatchObject({ status: 431 })
    expect(await raw(place, { path: '/status', headers: { x: 'x'.repeat(8_000) } })).toMatchObject({ status: 431 })
    const socket = connect(place)
    socket.end('\0\0\0 junk\r\n\r\n')
    await once(socket.resume(), 'close')
    expect(await ask(place, 'orders')).toMatchObject({ verdict: 'unknown' })
  })

  it('answers again soon after it was filled with lines that say nothing', async () => {
    const { place } = await serve()
    const silent: Socket[] = Array.from({ length: 40 }, () => connect(place))
    onTestFinished(() => silent.forEach((socket) => socket.destroy()))
    await Promise.all(silent.map((socket) => once(socket.on('error', () => undefined).resume(), 'close')))
    expect(await ask(place, 'orders')).toMatchObject({ verdict: 'unknown' })
  })

  it('takes over what a crash left, and leaves alone what is no socket', async () => {
    const place = newPlace()
    const crashed = createServer().listen(place)
    await once(crashed, 'listening')
    onTestFinished(() => void crashed.close())
    const { server } = await serve(place)
    expect(await ask(place, 'orders')).toBeDefined()
    await server.stop()

    writeFileSync(place, 'mine')
    chmodSync(place, 0o644)
    await expect(serve(place)).rejects.toMatchObject({ code: 'FILE_UNAVAILABLE' })
    expect(readFileSync(place, 'utf8')).toBe('mine')
  })
})

describe.runIf(process.platform !== 'win32')('whoever asks', () => {
  async function answering(answer: (socket: Socket) => void): Promise<string> {
    const place = newPlace()
    const server = createServer((socket) => answer(socket.on('error', () => undefined).resume())).listen(place)
    onTestFinished(() => void server.close())
    await once(server, 'listening')
    return place
  }
  const http = (body: string): string => `HTTP/1.1 200 OK\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`

  it.each([
    ['in another form', http('{"format":2}'), 'another version'],
    ['with no JSON', http('<html>'), 'not known'],
    ['with no HTTP', 'hello\n', 'could not be asked']
  ])('is told when the app answers %s', async (_how, text, why) => {
    const place = await answering((socket) => socket.end(text))
    await expect(ask(place, null)).rejects.toMatchObject({
      code: 'CONNECTION_LOST',
      message: expect.stringContaining(why) as string
    })
  })

  it('does not read an answer without end', async () => {
    const place = await answering((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n')
      const fill = (): void => {
        while (!socket.destroyed && socket.write('x'.repeat(65_536))) continue
      }
      socket.on('drain', fill)
      fill()
    })
    await expect(ask(place, null)).rejects.toMatchObject({ message: expect.stringContaining('too long') as string })
  })

  it('does not wait for ever', async () => {
    const place = await answering(() => undefined)
    const clock = { ...systemClock, sleep: (ms: number, signal?: AbortSignal) => systemClock.sleep(ms / 50, signal) }
    await expect(askApp(place, null, clock)).rejects.toMatchObject({ code: 'CONNECTION_LOST' })
  })
})

it('the place is in the data folder, a pipe of its own on Windows, and nowhere where a path has no room', () => {
  expect(statusPlace('/home/a/.local/share/taskdeck', 'linux')).toBe('/home/a/.local/share/taskdeck/status.sock')
  expect(statusPlace('C:\\Users\\a\\Taskdeck', 'win32')).toMatch(/^\\\\\.\\pipe\\taskdeck-[0-9a-f]{32}$/)
  expect(statusPlace('/x'.repeat(60), 'linux')).toBeNull()
})
