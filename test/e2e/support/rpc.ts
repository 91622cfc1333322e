import { once } from 'node:events'
import { connect } from 'node:net'
import { createORPCClient } from '@orpc/client'
import { RPCLink } from '@orpc/client/websocket'
import type { ContractRouterClient } from '@orpc/contract'
import { WebSocket } from 'ws'
import type { Contract } from '@contract'
import type { ServerShell } from './server-shell.ts'

export interface RpcConnection {
  readonly client: ContractRouterClient<Contract>
  readonly socket: WebSocket
  /** Every message that came over the wire. */
  readonly received: readonly string[]
  readonly close: () => void
}

/** A page's line to the server shell, without a page. */
export async function connectRpc(server: ServerShell, session: string): Promise<RpcConnection> {
  const socket = new WebSocket(`ws://127.0.0.1:${server.port}/rpc`, ['orpc', `token.${session}`], {
    origin: server.origin
  })
  const received: string[] = []
  socket.on('message', (data: Buffer) => received.push(data.toString('utf8')))
  await once(socket, 'open')
  const link = new RPCLink({ websocket: socket })
  return { client: createORPCClient(link), socket, received, close: () => socket.terminate() }
}

export interface RawAnswer {
  /** 0 when the server closed without an answer. */
  readonly status: number
  readonly text: string
}

/** Sends exactly these bytes and reads until the server closes; for what no HTTP client would send. */
export async function sendRaw(port: number, request: string | Buffer, maxMs = 15_000): Promise<RawAnswer> {
  const socket = connect(port, '127.0.0.1')
  const chunks: Buffer[] = []
  socket.on('data', (chunk: Buffer) => chunks.push(chunk))
  socket.on('error', () => socket.destroy())
  socket.setTimeout(maxMs, () => socket.destroy())
  socket.write(request)
  await once(socket, 'close')
  const text = Buffer.concat(chunks).toString('utf8')
  return { status: Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1] ?? 0), text }
}

/** An HTTP request from lines; the connection is closed after it. */
export const http = (first: string, headers: Record<string, string>, body = ''): string =>
  [
    `${first} HTTP/1.1`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    'Connection: close',
    '',
    body
  ].join('\r\n')

/** The request that opens a WebSocket, with one thing or another wrong. */
export const upgrade = (headers: Record<string, string>, path = '/rpc'): string =>
  [
    `GET ${path} HTTP/1.1`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
    '',
    ''
  ].join('\r\n')
