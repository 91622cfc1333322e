import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { networkInterfaces } from 'node:os'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { openBrowser } from './support/browser.ts'
import { connectRpc, http, sendRaw, upgrade } from './support/rpc.ts'
import { eventually } from './support/eventually.ts'
import { launchServer, type ServerShell } from './support/server-shell.ts'

let server: ServerShell
let session: string
let host: string
beforeAll(async () => {
  server = await launchServer()
  session = await server.takeSession()
  host = `127.0.0.1:${server.port}`
})
afterAll(() => server?.stop())

const get = (path: string, headers: Record<string, string> = {}) =>
  sendRaw(server.port, http(`GET ${path}`, { Host: host, ...headers }))
const post = (headers: Record<string, string>, body: string, path = '/session') =>
  sendRaw(
    server.port,
    http(`POST ${path}`, { Host: host, 'Content-Length': String(Buffer.byteLength(body)), ...headers }, body)
  )
const json = { 'Content-Type': 'application/json' }

describe('who may speak to it', () => {
  it('listens on the loopback address only', async () => {
    const others = Object.values(networkInterfaces())
      .flat()
      .filter((one) => one && one.family === 'IPv4' && !one.internal)
    for (const { address } of others.filter((one) => one !== undefined)) {
      const socket = connect(server.port, address)
      const [error] = (await Promise.race([once(socket, 'error'), once(socket, 'connect')])) as [Error | undefined]
      socket.destroy()
      expect(error, address).toBeInstanceOf(Error)
    }
    const own = connect(server.port, '127.0.0.1')
    await once(own, 'connect')
    own.destroy()
  })

  it.each(['/', '/health', '/session', '/assets/none.js', '/rpc'])('asks %s for its own Host first', async (path) => {
    for (const wrong of [
      'evil.example',
      `evil.example:${server.port}`,
      '127.0.0.1',
      `127.0.0.1:${server.port + 1}`,
      `127.0.0.1:${server.port}.evil.example`,
      `[::1]:${server.port}`,
      `0.0.0.0:${server.port}`,
      `LOCALHOST.evil:${server.port}`,
      ''
    ])
      expect((await get(path, { Host: wrong })).status, wrong).toBeGreaterThanOrEqual(400)
  })

  it('answers under both of its names', async () => {
    expect((await get('/health')).status).toBe(200)
    expect((await get('/health', { Host: `localhost:${server.port}` })).status).toBe(200)
  })

  it('refuses a second or missing Host and a target that is not a path', async () => {
    const twice = `GET /health HTTP/1.1\r\nHost: ${host}\r\nHost: evil.example\r\nConnection: close\r\n\r\n`
    const twiceTheSame = `GET /health HTTP/1.1\r\nHost: ${host}\r\nhost: ${host}\r\nConnection: close\r\n\r\n`
    const none = 'GET /health HTTP/1.1\r\nConnection: close\r\n\r\n'
    const absolute = http('GET http://evil.example/health', { Host: host })
    const absoluteOwn = http(`GET http://${host}/health`, { Host: host })
    const slashes = http('GET //evil.example/health', { Host: host })
    const star = http('OPTIONS *', { Host: host })
    const tunnel = http('CONNECT evil.example:443', { Host: host })
    const old = 'GET /health HTTP/1.0\r\n\r\n'
    for (const request of [twice, twiceTheSame, none, absolute, absoluteOwn, slashes, star, tunnel, old]) {
      const { status } = await sendRaw(server.port, request)
      expect([0, 400, 403], request).toContain(status)
    }
  })

  it('refuses smuggled and malformed requests, and goes on', async () => {
    const requests = [
      `POST /session HTTP/1.1\r\nHost: ${host}\r\nOrigin: ${server.origin}\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /health HTTP/1.1\r\nHost: ${host}\r\n\r\n`,
      `GET /health HTTP/1.1\r\nHost : ${host}\r\n\r\n`,
      `GET /health HTTP/1.1\r\nHost: ${host}\r\nX: ${'a'.repeat(20_000)}\r\n\r\n`,
      `GET /health\r\nHost: ${host}\r\n\r\n`,
      Buffer.from([0x16, 3, 1, 2, 0, 1, 0, 1]),
      '\0\0\0\0\r\n\r\n'
    ]
    for (const request of requests) {
      const { text } = await sendRaw(server.port, request)
      expect(text).not.toContain(' 200 ')
    }
    expect((await get('/health')).status).toBe(200)
  })

  it('does not wait for ever for a request', async () => {
    const slow = await sendRaw(server.port, `GET /health HTTP/1.1\r\nHost: ${host}\r\nX-Slow:`, 12_000)
    expect(slow).toMatchObject({ status: 0, text: '' })
  })

  it('refuses what a page of another site sends', async () => {
    expect((await get('/', { Origin: 'http://evil.example' })).status).toBe(403)
    expect((await get('/', { Origin: 'null' })).status).toBe(403)
    expect((await get('/', { Origin: `http://localhost:${server.port}` })).status).toBe(403)
    expect((await get('/', { Origin: `https://${host}` })).status).toBe(403)
    for (const site of ['cross-site', 'same-site', 'anything'])
      expect((await get('/', { 'Sec-Fetch-Site': site })).status, site).toBe(403)
    for (const site of ['same-origin', 'none'])
      expect((await get('/', { 'Sec-Fetch-Site': site })).status, site).toBe(200)
  })

  it('never says that another origin may read it', async () => {
    const answers = [
      await get('/', {}),
      await sendRaw(
        server.port,
        http('OPTIONS /session', { Host: host, Origin: server.origin, 'Access-Control-Request-Method': 'POST' })
      ),
      await post({ ...json, Origin: server.origin }, '{"token":"x"}')
    ]
    for (const { text } of answers) expect(text.toLowerCase()).not.toContain('access-control-')
    expect(answers[1]?.status).toBe(405)
  })
})

describe('the token', () => {
  it('has 256 bits and is printed in one line that is all of stdout', () => {
    expect(Buffer.from(server.token, 'base64url')).toHaveLength(32)
    expect(server.output()).toBe(`Taskdeck is ready: ${server.origin}/#token=${server.token}\n`)
  })

  it('buys one session, and then says that it was used', async () => {
    const again = await post({ ...json, Origin: server.origin }, JSON.stringify({ token: server.token }))
    expect(again.status).toBe(403)
    expect(again.text).toContain('{"error":"TOKEN_USED"}')
    const unknown = await post({ ...json, Origin: server.origin }, '{"token":"guess"}')
    expect([unknown.status, unknown.text.includes('TOKEN_UNKNOWN')]).toEqual([403, true])
  })

  it('is not taken from a form, a simple request, a stranger or a stream of guesses', async () => {
    const body = '{"token":"x"}'
    const types = [
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'application/json5',
      ''
    ]
    for (const type of types)
      expect((await post({ 'Content-Type': type, Origin: server.origin }, body)).status, type).toBe(415)
    expect((await post(json, body)).status).toBe(403)
    expect((await post({ ...json, Origin: 'http://evil.example' }, body)).status).toBe(403)
    expect((await post({ ...json, Origin: server.origin }, `{"token":"${'x'.repeat(5_000)}"}`)).status).toBe(413)
    for (const bad of ['', '{', '[]', '{"token":1}', '{"token":"x","more":1}', '{"token":""}'])
      expect((await post({ ...json, Origin: server.origin }, bad)).status, bad).toBe(400)
    const statuses = []
    for (let n = 0; n < 25; n++)
      statuses.push((await post({ ...json, Origin: server.origin }, '{"token":"guess"}')).status)
    expect(statuses.at(-1)).toBe(429)
  })

  it('is asked again on each request: a session is known, anything else is not', async () => {
    expect((await get('/session', { Authorization: `Bearer ${session}` })).status).toBe(204)
    for (const wrong of [`Bearer ${server.token}`, 'Bearer ', `Basic ${session}`, session, 'Bearer ../..'])
      expect((await get('/session', { Authorization: wrong })).status, wrong).toBe(401)
    expect((await get('/session')).status).toBe(401)
  })
})

describe('files', () => {
  it.each([
    '/../package.json',
    '/assets/../../main/server.js',
    '/..%2f..%2fpackage.json',
    '/%2e%2e/%2e%2e/package.json',
    '/assets/..%5c..%5cpackage.json',
    '/....//package.json',
    '/etc/passwd',
    '/index.html%00.js',
    '/.git/config',
    '/main/server.js'
  ])('has nothing at %s', async (path) => {
    const { status, text } = await get(path)
    expect([400, 404]).toContain(status)
    expect(text).not.toMatch(/"name"|root:/)
  })

  it.each(['POST', 'PUT', 'DELETE', 'PATCH', 'TRACE', 'OPTIONS'])('takes no %s', async (method) => {
    const { status } = await sendRaw(server.port, http(`${method} /`, { Host: host, Origin: server.origin }))
    expect(status).toBe(405)
  })

  it('come with every header that keeps a browser from misusing them', async () => {
    const { text } = await get('/')
    const headers = text.slice(0, text.indexOf('\r\n\r\n')).toLowerCase()
    for (const header of [
      'x-content-type-options: nosniff',
      'cache-control: no-store',
      'referrer-policy: no-referrer',
      'cross-origin-opener-policy: same-origin',
      'cross-origin-resource-policy: same-origin',
      'x-frame-options: deny'
    ])
      expect(headers).toContain(header)
    const policy = /content-security-policy: (.*)/.exec(headers)?.[1] ?? ''
    for (const rule of [
      "default-src 'none'",
      "script-src 'self';",
      "frame-ancestors 'none'",
      "base-uri 'none'",
      "form-action 'none'"
    ])
      expect(policy).toContain(rule)
    expect(policy).not.toMatch(/unsafe|\*|https?:/)
    const nonce = /'nonce-([^']+)'/i.exec(text)?.[1] ?? ''
    expect(text).toContain(`nonce="${nonce}"`)
    expect((await get('/')).text).not.toContain(nonce)
  })
})

describe('the socket', () => {
  const own = () => ({ Host: host, Origin: server.origin, 'Sec-WebSocket-Protocol': `orpc, token.${session}` })
  const status = async (headers: Record<string, string>, path?: string) =>
    (await sendRaw(server.port, upgrade(headers, path), 3_000)).status

  it('opens for our page with a session', async () => {
    const { client, close } = await connectRpc(server, session)
    expect((await client.app.info()).shell).toBe('server')
    close()
  })

  it('does not open without a known session', async () => {
    expect(await status({ ...own(), 'Sec-WebSocket-Protocol': 'orpc' })).toBe(401)
    expect(await status({ ...own(), 'Sec-WebSocket-Protocol': `orpc, token.${server.token}` })).toBe(401)
    expect(await status({ ...own(), 'Sec-WebSocket-Protocol': `token.${session}` })).toBe(401)
    expect(await status({ ...own(), 'Sec-WebSocket-Protocol': `orpc, token.${session}x` })).toBe(401)
    const without = { Host: host, Origin: server.origin }
    expect(await status(without)).toBe(401)
    expect(await status({ ...without, Cookie: `token=${session}` }, `/rpc?token=${session}`)).toBe(404)
  })

  it('does not open for another site, however it got a session', async () => {
    expect(await status({ ...own(), Origin: 'http://evil.example' })).toBe(403)
    expect(await status({ ...own(), Host: 'evil.example', Origin: 'http://evil.example' })).toBe(403)
    expect(await status({ ...own(), 'Sec-Fetch-Site': 'cross-site' })).toBe(403)
    const without = { Host: host, 'Sec-WebSocket-Protocol': `orpc, token.${session}` }
    expect(await status(without)).toBe(403)
    expect(await status(own(), '/other')).toBe(404)
  })

  it('is cut when a message is larger than any input', async () => {
    const { socket, client } = await connectRpc(server, session)
    await client.app.info()
    socket.send(Buffer.alloc(9 * 1_048_576, 0x20))
    const [code] = (await once(socket, 'close')) as [number]
    expect(code).toBe(1009)
  })

  it('has room for 16 pages and no more, and makes room again', async () => {
    const pages = await Promise.all(Array.from({ length: 16 }, () => connectRpc(server, session)))
    expect(await status(own())).toBe(503)
    const closed = pages.map(({ socket }) => once(socket, 'close'))
    for (const page of pages) page.close()
    await Promise.all(closed)
    await eventually(async () => (await get('/health')).status).toBe(200)
    await eventually(async () =>
      connectRpc(server, session).then(({ client, close }) => client.app.info().finally(close))
    ).toMatchObject({ shell: 'server' })
  })

  it('survives 2,000 messages of junk, and cuts the line of who sends them', async () => {
    const pick = seeded(20_261_129)
    for (let round = 0; round < 10; round++) {
      const { socket } = await connectRpc(server, session)
      for (let n = 0; n < 200; n++) if (socket.readyState === WebSocket.OPEN) socket.send(junk(pick))
      socket.terminate()
    }
    const { client, close } = await connectRpc(server, session)
    expect((await client.connections.list()).map(({ id }) => id)).toEqual(['local'])
    expect(server.process.exitCode).toBeNull()
    close()
  })

  it('says nothing of its insides when a call is wrong', async () => {
    const { client, received, close } = await connectRpc(server, session)
    await expect(client.tasks.get({ connectionId: 'nowhere', taskId: '1' })).rejects.toMatchObject({
      code: 'PROBLEM',
      data: { code: 'NOT_FOUND' }
    })
    await expect(client.tasks.get({ connectionId: '../x', taskId: '1' })).rejects.toMatchObject({ code: 'BAD_REQUEST' })
    await expect(client.tasks.get({ connectionId: 'local', taskId: "1' OR 1=1" })).rejects.toMatchObject({
      code: 'BAD_REQUEST'
    })
    expect(received.join('\n')).not.toMatch(/node_modules|src-main|at .*:\d+:\d+|SELECT /)
    close()
  })
})

describe('in a browser', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await openBrowser()
  })
  afterAll(() => browser?.close())

  it('a page on another port can neither read it nor open its socket, a rebound name neither', async () => {
    const foreign = createServer((socket) => {
      socket.on('error', () => socket.destroy())
      socket.once('data', () =>
        socket.end('HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi')
      )
    }).listen(0, '127.0.0.1')
    await once(foreign, 'listening')
    const { port } = foreign.address() as { port: number }
    const page = await browser.newPage()
    await page.goto(`http://127.0.0.1:${port}/`)
    const seen = await page.evaluate(
      async ({ origin, session }) => {
        const tried = async (work: Promise<unknown>): Promise<string> =>
          work.then(
            () => 'worked',
            () => 'refused'
          )
        const open = new Promise((resolve, reject) => {
          const socket = new WebSocket(`${origin.replace('http', 'ws')}/rpc`, ['orpc', `token.${session}`])
          socket.onopen = resolve
          socket.onerror = reject
        })
        const image = new Promise((resolve, reject) => {
          const element = new Image()
          element.onload = resolve
          element.onerror = reject
          element.src = `${origin}/health`
        })
        const body = JSON.stringify({ token: 'x' })
        return [
          await tried(fetch(`${origin}/`).then((r) => r.text())),
          await tried(
            fetch(`${origin}/session`, { method: 'POST', body, headers: { 'content-type': 'application/json' } })
          ),
          await tried(fetch(`${origin}/session`, { method: 'POST', body, mode: 'cors' })),
          await tried(open),
          await tried(image)
        ]
      },
      { origin: server.origin, session }
    )
    expect(seen).toEqual(['refused', 'refused', 'refused', 'refused', 'refused'])
    await page.goto(`http://127.0.0.1:${port}/`)
    const rebound = await page.goto(`http://taskdeck.localhost:${server.port}/`).then(
      (r) => r?.status(),
      () => 0
    )
    expect([0, 403]).toContain(rebound)
    await page.close()
    foreign.close()
  })

  it('our page blocks inline scripts, eval and remote images, and takes the token out of the address', async () => {
    const own = await launchServer()
    const page = await browser.newPage()
    await page.goto(own.address)
    await eventually(() => new URL(page.url()).hash).not.toContain('token')
    const violations = await page.evaluate(async () => {
      const seen: string[] = []
      document.addEventListener('securitypolicyviolation', (event) => seen.push(event.effectiveDirective))
      const script = document.createElement('script')
      script.textContent = 'window.injected = true'
      document.body.append(script)
      const image = new Image()
      image.src = 'http://127.0.0.1:1/x.png'
      document.body.append(image)
      // In a task of the page's own: what the debugger evaluates is exempt.
      const evaluated = await new Promise((resolve) =>
        setTimeout(() => {
          try {
            resolve((Reflect.get(window, 'eval') as (code: string) => unknown)('1'))
          } catch {
            resolve('blocked')
          }
        })
      )
      const frame = document.createElement('iframe')
      frame.src = 'http://127.0.0.1:1/'
      document.body.append(frame)
      const deadline = performance.now() + 20_000
      while (new Set(seen).size < 4 && performance.now() < deadline)
        await new Promise((resolve) => setTimeout(resolve, 50))
      return { evaluated, injected: 'injected' in window, seen: [...new Set(seen)].sort() }
    })
    expect(violations).toEqual({
      evaluated: 'blocked',
      injected: false,
      seen: ['frame-src', 'img-src', 'script-src', 'script-src-elem']
    })
    await page.reload()
    await eventually(() => page.evaluate(() => Object.keys(sessionStorage))).toContain('taskdeck.session')
    const [kept, elsewhere] = await page.evaluate(() => [
      sessionStorage.getItem('taskdeck.session') ?? '',
      JSON.stringify({ ...localStorage }) + document.cookie
    ])
    expect(kept).toHaveLength(43)
    expect(elsewhere).not.toContain(kept)
    await page.close()
    await own.stop()
  })
})

describe('its life', () => {
  it('ends on SIGTERM with nothing listening, and refuses a port in use with exit code 2', async () => {
    const first = await launchServer()
    const second = launchServer({}, ['--port', String(first.port)])
    await expect(second).rejects.toThrow(new RegExp(`Port ${first.port} is in use`))
    await first.takeSession()
    expect(await first.stop()).toBe(0)
    expect(first.output()).toBe(`Taskdeck is ready: ${first.address}\n`)
    const [error] = (await once(connect(first.port, '127.0.0.1'), 'error')) as [NodeJS.ErrnoException]
    expect(error.code).toBe('ECONNREFUSED')
  })

  it('refuses a data folder that is in use, and says by whom', async () => {
    await expect(launchServer({ dataDir: server.dataDir })).rejects.toThrow(
      /already running with the folder .*process \d+/
    )
  })
})

/** A small generator, so that a failure can be repeated. */
function seeded(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

/** Broken frames, valid frames with absurd content, prototype tricks, binary noise. */
function junk(pick: (below: number) => number): string | Buffer {
  const one = <T>(...items: readonly T[]): T => items[pick(items.length)] as T
  const deep = '['.repeat(2_000) + ']'.repeat(2_000)
  const value = (): unknown =>
    one<unknown>(
      null,
      0,
      -1,
      'x',
      {},
      [],
      true,
      { __proto__: 1 },
      { json: {}, meta: [[1, 'a']] },
      'a'.repeat(5_000),
      deep
    )
  const path = one(
    '/app/info',
    '/tasks/get',
    '/connections/save',
    '/tasks/__proto__/x',
    '/../..',
    '//',
    'http://evil/',
    '/localWorker/start',
    '/app/events',
    '%'
  )
  const frame = {
    i: one<unknown>('1', 1, null, {}, '__proto__', pick(50)),
    t: one<unknown>(1, 3, 4, 9, 'x', undefined),
    p: one<unknown>(value(), {
      u: path,
      b: { json: value(), meta: one<unknown>([], [[0, 'x']], value()) },
      h: one<unknown>({}, { 'content-type': 'text/event-stream' }, { 'content-disposition': 'x' }, value()),
      m: one('POST', 'GET', 'X')
    })
  }
  switch (pick(4)) {
    case 0:
      return Buffer.from(Array.from({ length: pick(300) }, () => pick(256)))
    case 1:
      return JSON.stringify(frame).slice(0, pick(400))
    case 2:
      return Buffer.concat([Buffer.from(JSON.stringify(frame)), Buffer.from([255, pick(256)])])
    default:
      return JSON.stringify(frame)
  }
}
