import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'

/**
 * A TCP link to a database server that tests can cut, pause, and make lose a reply. One-way faults leave the other
 * side's socket open, as a dead network does.
 */
export class TcpLink {
  readonly port: number
  /** Ends every connection right after a packet from the client that contains this text has reached the server. */
  loseReplyTo: string | null = null
  /** Ends every connection instead of passing on a packet from the client that contains this text. */
  loseRequest: string | null = null
  /** Connections made so far. */
  connections = 0
  private paused = false
  private readonly server: Server
  private readonly pairs = new Set<{ client: Socket; upstream: Socket }>()

  private constructor(server: Server, target: { host: string; port: number }) {
    this.server = server
    this.port = (server.address() as AddressInfo).port
    server.on('connection', (client) => this.join(client, connect(target.port, target.host)))
  }

  static async to(target: { host: string; port: number }): Promise<TcpLink> {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    return new TcpLink(server, target)
  }

  /** Nothing passes in either direction; sockets stay open. New connections are accepted and get no greeting. */
  pause(): void {
    this.paused = true
    for (const { client, upstream } of this.pairs) this.freeze(client, upstream)
  }

  /** Connections made from now on work; those that were paused stay as they are. */
  acceptAgain(): void {
    this.paused = false
  }

  cut(): void {
    for (const { client, upstream } of this.pairs) {
      client.destroy()
      upstream.destroy()
    }
  }

  async close(): Promise<void> {
    this.cut()
    this.server.close()
    await once(this.server, 'close')
  }

  private join(client: Socket, upstream: Socket): void {
    this.connections += 1
    const pair = { client, upstream }
    this.pairs.add(pair)
    client.on('data', (data) => this.fromClient(data, client, upstream))
    upstream.on('data', (data) => client.write(data))
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client]
    ] as const) {
      socket.on('error', () => other.destroy())
      socket.on('close', () => {
        this.pairs.delete(pair)
        other.destroy()
      })
    }
    if (this.paused) this.freeze(client, upstream)
  }

  private fromClient(data: Buffer, client: Socket, upstream: Socket): void {
    if (this.loseRequest && data.includes(this.loseRequest)) {
      this.loseRequest = null
      return this.cut()
    }
    upstream.write(data)
    if (!this.loseReplyTo || !data.includes(this.loseReplyTo)) return
    this.loseReplyTo = null
    upstream.removeAllListeners('data')
    upstream.once('data', () => client.destroy())
  }

  /** The client sees silence, and so does the server: closing is not passed on either. */
  private freeze(client: Socket, upstream: Socket): void {
    for (const socket of [client, upstream]) {
      socket.removeAllListeners('data').removeAllListeners('close').removeAllListeners('error')
      socket.on('error', () => undefined)
      socket.pause()
    }
  }
}
