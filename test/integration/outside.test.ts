import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { request } from 'node:http'
import { connect } from 'node:net'
import { hostname } from 'node:os'
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { unzip } from '../../src-main/app/outside/bundle/unzip.fixture.ts'
import { createTestDatabase } from '../support/mariadb.ts'
import { migrate, newDataDir, startApp, type AppUnderTest } from './app-under-test.ts'

async function running(options: Parameters<typeof startApp>[0] = {}): Promise<AppUnderTest> {
  const started = await startApp(options)
  onTestFinished(() => started.app.stop())
  await started.event('tick', ({ tick }) => tick.connectionId === 'local')
  return started
}

/** `fetch` chooses the Host header itself. */
function get(url: string, headers: Record<string, string> = {}): Promise<{ status: number | undefined; body: string }> {
  return new Promise((resolve, reject) => {
    const asked = request(url, { headers, agent: false }, (response) => {
      let body = ''
      response.on('data', (data: Buffer) => (body += data.toString()))
      response.on('end', () => resolve({ status: response.statusCode, body }))
    })
    asked.on('error', reject)
    asked.end()
  })
}

describe('the metrics of a running app', () => {
  it('are off unless a port is given', async () => {
    const { app } = await running()
    expect(app.metricsUrl).toBeNull()
  })

  it('show each connection as it is, and end with the app', async () => {
    const { app, client, event } = await running({ metricsPort: 0 })
    const url = app.metricsUrl ?? ''
    expect(new URL(url).hostname).toBe('127.0.0.1')
    await client.tasks.submit({
      connectionId: 'local',
      task: { type: 'nobody', payload: '{"secret":"cnry7f3a9c11d2"}' },
      count: 3
    })
    await event('tick', ({ tick }) => tick.reading.depth.some(({ count }) => count === 3))
    await client.connections.save({
      ...{ name: 'Away', environment: 'staging', accessMode: 'read-only', password: 'cnry7f3a9c11d2' },
      mysql: { host: '127.0.0.1', port: 1, user: 'nobody', database: 'none' }
    })
    const { body } = await get(url)
    const rows = body.split('\n')
    expect(rows).toContain(
      'taskdeck_queue_tasks{connection="Local queue",type="nobody",state="QUEUED",accuracy="exact"} 3'
    )
    expect(rows).toContain('taskdeck_connection_up{connection="Local queue"} 1')
    expect(rows).toContain('taskdeck_connection_up{connection="Away"} 0')
    expect(rows).toContain('taskdeck_alert_firing{connection="Local queue",signal="oldestMs",type=""} 0')
    // Of what was never read there is no number.
    expect(rows.filter((row) => row.includes('"Away"') && !/^taskdeck_(connection_up|alert_firing)/.test(row))).toEqual(
      []
    )
    expect(body).not.toContain('cnry7f3a9c11d2')
    await app.stop()
    await expect(get(url)).rejects.toMatchObject({ code: 'ECONNREFUSED' })
  })

  it('answer nobody but this machine under its own name, and outlive junk and floods', async () => {
    const { app } = await running({ metricsPort: 0 })
    const url = app.metricsUrl ?? ''
    const port = Number(new URL(url).port)
    for (const host of ['evil.example', `evil.example:${port}`, '127.0.0.1:1'])
      expect(await get(url, { host })).toMatchObject({ status: 403, body: 'This host name is not answered.\n' })
    expect(await get(url, { x: 'x'.repeat(40_000) })).toMatchObject({ status: 431 })
    const flood = Array.from({ length: 100 }, () => connect(port, '127.0.0.1').on('error', () => undefined))
    onTestFinished(() => flood.forEach((socket) => socket.destroy()))
    flood[0]?.end('\0\0junk\r\n\r\n')
    await Promise.all(flood.map((socket) => once(socket.resume(), 'close')))
    expect(await get(url)).toMatchObject({ status: 200 })
  })

  it('keep an app from starting whose port is taken, and leave its folder free', async () => {
    const { app } = await running({ metricsPort: 0 })
    const metricsPort = Number(new URL(app.metricsUrl ?? '').port)
    const dataDir = newDataDir()
    await expect(startApp({ dataDir, metricsPort })).rejects.toMatchObject({ code: 'INVALID_INPUT', kind: 'user' })
    await running({ dataDir })
  })
})

describe('an incident bundle of a running app', () => {
  const canary = 'cnry7f3a9c11d2'
  const minute = 60_000

  async function bundleOf(
    started: AppUnderTest,
    connectionId: string,
    options: { withNames?: boolean; picture?: string } = {}
  ) {
    const to = Date.now() + minute
    const blob = await started.client.outside.bundle({ connectionId, from: to - 60 * minute, to, ...options })
    return { blob, files: unzip(new Uint8Array(await blob.arrayBuffer())) }
  }

  it('holds what was seen of a server, its plans and versions, and nothing that must not leave', async () => {
    const database = await createTestDatabase(inject('mariadbUrl'), 'outside')
    onTestFinished(() => database.drop())
    const url = new URL(database.url)
    const started = await running()
    const { client } = started
    const { id: connectionId } = await client.connections.save({
      ...{ name: 'Orders', environment: 'staging', accessMode: 'read-write' },
      password: decodeURIComponent(url.password),
      mysql: {
        ...{ host: url.hostname, port: Number(url.port), database: url.pathname.slice(1) },
        user: decodeURIComponent(url.username)
      }
    })
    await migrate(client, connectionId)
    const task = { type: 'mail', payload: JSON.stringify({ body: canary }), title: canary, businessKey: canary }
    await client.tasks.submit({ connectionId, task })
    await started.event('tick', ({ tick }) => tick.connectionId === connectionId && tick.reading.depth.length > 0)
    // A wrong password, which the server's refusal and our log speak of.
    await client.connections.save({
      ...{ name: 'Wrong', environment: 'staging', accessMode: 'read-only', password: canary },
      mysql: { host: url.hostname, port: Number(url.port), user: `u${canary}`.slice(0, 12), database: 'none' }
    })

    const { blob, files } = await bundleOf(started, connectionId)
    expect(blob.type).toBe('application/zip')
    expect((blob as File).name).toMatch(/^taskdeck-orders-\d{8}-\d{6}\.zip$/)
    const data = JSON.parse(files.get('data.json')?.toString() ?? '') as Record<string, unknown>
    expect(data).toMatchObject({
      versions: { taskdeck: '0.0.0-test', schema: 1 },
      connection: { name: 'Orders', where: null },
      status: { verdict: 'warning', depth: [{ state: 'QUEUED', count: 1 }] },
      reading: { depth: [{ type: 'mail', count: 1 }] },
      changes: expect.arrayContaining([expect.objectContaining({ what: 'link', text: 'live' })]) as unknown[],
      database: {
        kind: 'mysql',
        plans: expect.arrayContaining([expect.objectContaining({ name: 'claim' })]) as unknown[]
      }
    })
    const all = [...files.values()].join('\n')
    for (const secret of [canary, url.pathname.slice(1), hostname()]) expect(all).not.toContain(secret)
    expect(files.get('log.txt')?.toString()).toContain(`connection ${connectionId}: live`)

    const named = await bundleOf(started, connectionId, { withNames: true })
    const text = [...named.files.values()].join('\n')
    expect(text).toContain(url.pathname.slice(1))
    expect(text).not.toContain(canary)
  })

  it('takes the picture that the page gives, and nothing else in its place', async () => {
    const started = await running()
    const png = Buffer.from('89504e470d0a1a0a00000000', 'hex')
    const { files } = await bundleOf(started, 'local', { picture: png.toString('base64') })
    const hash = (bytes: Uint8Array | undefined): string =>
      createHash('sha256')
        .update(bytes ?? '')
        .digest('hex')
    expect(hash(files.get('overview.png'))).toBe(hash(png))
    const script = Buffer.from('<script>alert(1)</script>').toString('base64')
    await expect(bundleOf(started, 'local', { picture: script })).rejects.toMatchObject({
      data: { code: 'INVALID_INPUT' }
    })
    await expect(bundleOf(started, 'local', { picture: '!' })).rejects.toMatchObject({ code: 'BAD_REQUEST' })
  })

  it('is refused for a time without sense and for a connection that is not there', async () => {
    const { client } = await running()
    for (const [from, to] of [
      [2_000_000, 1_000_000],
      [0, 1_000],
      [0, 91 * 86_400_000]
    ] as const)
      await expect(client.outside.bundle({ connectionId: 'local', from, to })).rejects.toMatchObject({
        code: 'BAD_REQUEST'
      })
    await expect(client.outside.bundle({ connectionId: 'gone', from: 0, to: 100_000 })).rejects.toMatchObject({
      data: { code: 'NOT_FOUND' }
    })
  })
})

it('a picture of the window is taken where there is one, and only if it is one', async () => {
  const area = { x: 0, y: 0, width: 10, height: 10 }
  const png = Buffer.from('89504e470d0a1a0a00', 'hex')
  const taken: unknown[] = []
  const windowed = await running({
    capturePage: (wanted) => {
      taken.push(wanted)
      return Promise.resolve(png)
    }
  })
  const blob = await windowed.client.outside.picture(area)
  expect([blob.type, Buffer.from(await blob.arrayBuffer()).equals(png), taken]).toEqual(['image/png', true, [area]])
  await expect(windowed.client.outside.picture({ ...area, width: 0 })).rejects.toMatchObject({ code: 'BAD_REQUEST' })
  const { client } = await running()
  await expect(client.outside.picture(area)).rejects.toMatchObject({ data: { code: 'INVALID_INPUT' } })
})
