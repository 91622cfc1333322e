import { MessageChannel } from 'node:worker_threads'
import { createORPCClient } from '@orpc/client'
import { RPCLink } from '@orpc/client/message-port'
import { os, type RouterClient } from '@orpc/server'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { AppLog } from './app-log.ts'
import { createPageServer, maxMessageBytes, type PageLine, type PeerSession } from './rpc-peer.ts'

const counts = { live: 0 }
let changed: () => void = () => undefined
const router = {
  double: os.input(z.number()).handler(({ input }) => input * 2),
  forever: os.handler(async function* ({ signal }) {
    counts.live += 1
    try {
      yield 1
      await new Promise<void>((resolve) => signal?.addEventListener('abort', () => resolve()))
    } finally {
      counts.live -= 1
      changed()
    }
  })
}

function logOf(lines: string[]): AppLog {
  return {
    write: (_level, message) => lines.push(message),
    bug: () => 'x',
    hide: () => undefined,
    maskWith: () => undefined,
    redact: (text) => text
  }
}

interface Page {
  readonly client: RouterClient<typeof router>
  readonly session: PeerSession
  readonly lines: string[]
  readonly isCut: () => boolean
}

function openPage(): Page {
  const { port1, port2 } = new MessageChannel()
  const lines: string[] = []
  let cut = false
  const line: PageLine = {
    send: (message) => Promise.resolve(port2.postMessage(message)),
    close: () => {
      cut = true
      port2.close()
    }
  }
  const session = createPageServer(router, logOf(lines))(line)
  port2.on('message', (message) => session.receive(message))
  return { client: createORPCClient(new RPCLink({ port: port1 })), session, lines, isCut: () => cut }
}

describe('page server', () => {
  it('answers calls', async () => {
    expect(await openPage().client.double(21)).toBe(42)
  })

  it('ends the streams of a page that went away', async () => {
    const page = openPage()
    const stream = await page.client.forever()
    await stream.next()
    expect(counts.live).toBe(1)
    const ended = new Promise<void>((resolve) => (changed = resolve))
    page.session.end()
    await ended
    expect(counts.live).toBe(0)
  })

  it('takes junk of every kind without throwing, and still answers', async () => {
    const page = openPage()
    const junk = [
      undefined,
      null,
      5,
      {},
      [],
      new Map(),
      '',
      '{',
      '[]',
      'null',
      '{"i":1}',
      '{"i":"1","p":{}}',
      new Uint8Array([255]),
      new ArrayBuffer(3)
    ]
    for (const one of junk) page.session.receive(one)
    expect(await page.client.double(2)).toBe(4)
    expect(page.isCut()).toBe(false)
  })

  it('ignores a message that is larger than any input', async () => {
    const page = openPage()
    page.session.receive('x'.repeat(maxMessageBytes + 1))
    page.session.receive(new Uint8Array(maxMessageBytes + 1))
    expect(await page.client.double(2)).toBe(4)
  })

  it('cuts the line of a page that sends nothing but junk, and says so in the log', () => {
    const page = openPage()
    for (let n = 0; n < 200; n++) page.session.receive(n)
    expect(page.isCut()).toBe(true)
    expect(page.lines.join()).toContain('too many messages that mean nothing')
  })

  it('cuts the line of a page that leaves too many calls open', async () => {
    const page = openPage()
    for (let n = 0; n < 400; n++) {
      page.session.receive(JSON.stringify({ i: `s${n}`, p: { u: '/forever', b: {} } }))
      await new Promise((resolve) => setImmediate(resolve)) // a message of its own, as from a socket
    }
    expect(page.isCut()).toBe(true)
    expect(page.lines.join()).toContain('too many calls')
  })
})
