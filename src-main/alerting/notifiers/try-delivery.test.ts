import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { AppError, systemClock, type Clock } from '../../kernel/index.ts'
import { messageOf, notifierOf } from './notifiers.fixture.ts'
import { deliveryBy, type DeliveryMeans } from './try-delivery.ts'
import { parseWebhookAddress } from './webhook-address.ts'

const servers: Server[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
})

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener)
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook/T0ken12345?key=Secret67890`
}

/** The deadline is over at once, whatever it is. */
const hastyClock: Clock = { ...systemClock, sleep: () => Promise.resolve() }
const going = new AbortController().signal

const meansOf = (address: string | null, changes: Partial<DeliveryMeans> = {}): DeliveryMeans => ({
  clock: systemClock,
  language: () => 'en',
  desktop: null,
  addressOf: () => Promise.resolve(address === null ? null : parseWebhookAddress(address)),
  onClick: () => undefined,
  redact: (text) => text,
  onBug: (error) => {
    throw error
  },
  ...changes
})
const post = (address: string | null, changes: Partial<DeliveryMeans> = {}, notifier = notifierOf(), signal = going) =>
  deliveryBy(meansOf(address, changes))(notifier, messageOf(), signal)

describe('a try over the network', () => {
  it('posts the message as JSON to exactly this address', async () => {
    const seen: unknown[] = []
    const address = await serve((request, response) => {
      let body = ''
      request.on('data', (chunk) => (body += String(chunk)))
      request.on('end', () => {
        seen.push(request.method, request.url, request.headers['content-type'], JSON.parse(body))
        response.end('thanks')
      })
    })
    expect(await post(address)).toEqual({ delivered: true, again: false, answer: 'HTTP 200: thanks' })
    expect(seen.slice(0, 3)).toEqual(['POST', '/hook/T0ken12345?key=Secret67890', 'application/json; charset=utf-8'])
    expect(seen[3]).toMatchObject({ event: 'fired', source: 'taskdeck' })
  })

  it('follows no redirect', async () => {
    let followed = false
    const target = await serve((_request, response) => {
      followed = true
      response.end()
    })
    const address = await serve((_request, response) => response.writeHead(302, { location: target }).end())
    expect(await post(address)).toMatchObject({ delivered: false, again: false, answer: 'HTTP 302' })
    expect(followed).toBe(false)
  })

  it('gives up a receiver that says nothing, and closes the connection to it', async () => {
    let closed = (): void => undefined
    const gone = new Promise<void>((resolve) => (closed = resolve))
    let asked = (): void => undefined
    const arrived = new Promise<void>((resolve) => (asked = resolve))
    const address = await serve((request) => {
      request.socket.on('close', closed)
      asked()
    })
    const clock: Clock = { ...systemClock, sleep: () => arrived }
    expect(await post(address, { clock })).toEqual({ delivered: false, again: true, answer: 'No answer in time.' })
    await gone
  })

  it('gives up one that never ends its answer', async () => {
    let sent = (): void => undefined
    const begun = new Promise<void>((resolve) => (sent = resolve))
    const address = await serve((_request, response) => response.write('{"errcode":', () => sent()))
    const clock: Clock = { ...systemClock, sleep: () => begun }
    expect(await post(address, { clock })).toMatchObject({ delivered: false, again: true })
  })

  it('reads a huge answer up to its limit and leaves', async () => {
    let closed = (): void => undefined
    const gone = new Promise<void>((resolve) => (closed = resolve))
    const address = await serve((request, response) => {
      request.socket.on('close', closed)
      const more = (): void => void (response.destroyed || response.write('x'.repeat(65_536), more))
      more()
    })
    const { delivered, answer } = await post(address)
    expect(delivered).toBe(true)
    expect(answer.length).toBeLessThan(330)
    await gone
  })

  it('takes 200 with the wrong JSON for no delivery where the format has a code', async () => {
    const address = await serve((_request, response) => response.end('[1,2'))
    const dingtalk = notifierOf({ format: 'dingtalk' })
    expect(await post(address, {}, dingtalk)).toEqual({ delivered: false, again: true, answer: 'HTTP 200: [1,2' })
  })

  it('says that nobody listens, and may try again', async () => {
    const address = await serve(() => undefined)
    await new Promise((resolve) => servers.pop()?.close(resolve))
    expect(await post(address)).toEqual({ delivered: false, again: true, answer: 'The connection was refused.' })
  })

  it('says that the connection broke', async () => {
    const address = await serve((request) => request.socket.destroy())
    expect(await post(address)).toMatchObject({
      again: true,
      answer: 'The connection broke before there was an answer.'
    })
  })

  it('ends at once when the app does', async () => {
    const stop = new AbortController()
    const address = await serve(() => stop.abort())
    expect(await post(address, {}, notifierOf(), stop.signal)).toMatchObject({ delivered: false, again: false })
    expect(await post(address, {}, notifierOf(), stop.signal)).toMatchObject({
      answer: 'Taskdeck ended before it was delivered.'
    })
  })

  it('keeps the address out of an answer that repeats it, also where the answer is cut', async () => {
    const address = await serve((request, response) =>
      response.writeHead(404).end(`${'n'.repeat(280)} ${request.url} of T0ken12345 Secret67890 ${address}`)
    )
    const { answer } = await post(address)
    expect(answer).not.toMatch(/T0ken|Secret/)
  })

  it('accepts no certificate that nobody vouches for', async () => {
    // A plain HTTP server speaks no TLS: the handshake fails as a bad certificate's does.
    const address = (await serve(() => undefined)).replace('http:', 'https:')
    expect(await post(address)).toMatchObject({ delivered: false, again: false })
  })

  it('says that the address is not known any more', async () => {
    expect(await post(null)).toEqual({
      delivered: false,
      again: false,
      answer: 'The address is not known any more: enter it again.'
    })
  })

  it('says what is wrong with a template that gives no JSON', async () => {
    const notifier = notifierOf({ template: '{{title}' })
    expect(await post('https://a.example/', {}, notifier)).toMatchObject({
      again: false,
      answer: expect.stringContaining('template') as string
    })
  })
})

describe('a try on the desktop', () => {
  const desktop = notifierOf({ kind: 'desktop', host: null, address: 'none' })

  it('shows title and body; a click leads to the message', async () => {
    let click = (): void => undefined
    const shown: string[] = []
    const clicked: unknown[] = []
    const means: Partial<DeliveryMeans> = {
      desktop: {
        show({ title, body }, onClick) {
          shown.push(title, body)
          click = onClick
          return Promise.resolve()
        }
      },
      onClick: (message) => clicked.push(message)
    }
    expect(await post(null, means, desktop)).toEqual({
      delivered: true,
      again: false,
      answer: 'Handed to the desktop.'
    })
    expect(shown[0]).toContain('Oldest waiting task')
    click()
    expect(clicked).toEqual([messageOf()])
  })

  it('says so where there is no desktop, or it takes nothing, or never answers', async () => {
    expect(await post(null, {}, desktop)).toMatchObject({
      delivered: false,
      answer: expect.stringContaining('without a desktop') as string
    })
    const refuses = { show: () => Promise.reject(new AppError('DELIVERY_FAILED', 'operational', 'no dbus')) }
    expect(await post(null, { desktop: refuses }, desktop)).toEqual({
      delivered: false,
      again: false,
      answer: 'no dbus'
    })
    const silent = { show: () => new Promise<void>(() => undefined) }
    expect(await post(null, { desktop: silent, clock: hastyClock }, desktop)).toMatchObject({
      answer: 'No answer in time.'
    })
  })

  it('logs what is a bug and shows nothing of it', async () => {
    const bugs: unknown[] = []
    const broken = { show: () => Promise.reject(new TypeError('secret inside')) }
    const result = await post(null, { desktop: broken, onBug: (error) => bugs.push(error) }, desktop)
    expect(result).toEqual({
      delivered: false,
      again: false,
      answer: 'Taskdeck could not send it: the log file says why.'
    })
    expect(bugs).toHaveLength(1)
  })
})
