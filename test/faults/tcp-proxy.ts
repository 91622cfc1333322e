import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'

export type Direction = 'toServer' | 'toClient'

/** What happens to the next connection on which it can happen. */
export type Strike =
  /** RST on both sides, between two packets or in the middle of what goes on. */
  | 'reset'
  /** FIN to both. */
  | 'end'
  /** The first half of a request arrives at the server, then RST. */
  | 'half-request'
  /** A request arrives, its reply does not. */
  | 'lost-reply'
  /** The same of a COMMIT. */
  | 'lost-commit-reply'

interface Armed {
  readonly strike: Strike
  readonly struck: () => void
}

/** A link to one database server that a fault run can delay, silence in either direction, and cut at chosen places. */
export class TcpProxy {
  readonly port: number
  /** Added to each chunk in each direction. */
  latencyMs = 0
  private readonly server: Server
  private readonly links = new Set<Link>()
  private readonly silenced = new Set<Direction>()
  /** In the order in which they came: each waits for traffic that it fits. */
  private readonly armed = new Set<Armed>()
  private onCommit: (() => void) | undefined

  private constructor(server: Server, target: { host: string; port: number }) {
    this.server = server
    this.port = (server.address() as AddressInfo).port
    server.on('connection', (client) => {
      const link = new Link(client, connect(target.port, target.host), this)
      this.links.add(link)
      link.onClosed = () => this.links.delete(link)
    })
  }

  static async to(target: { host: string; port: number }): Promise<TcpProxy> {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    return new TcpProxy(server, target)
  }

  /** Bytes of these directions are held back; sockets stay open, and neither side hears of the other's end. */
  silence(...directions: Direction[]): void {
    for (const direction of directions) this.silenced.add(direction)
  }

  /** What was held back arrives now, as it does after a partition. */
  resume(): void {
    this.silenced.clear()
    for (const link of this.links) link.pump()
  }

  isSilent(direction: Direction): boolean {
    return this.silenced.has(direction)
  }

  /** Resolves to whether it struck within `ms`. */
  async strike(strike: Strike, ms: number): Promise<boolean> {
    if (strike === 'reset' || strike === 'end') {
      if (this.links.size === 0) await this.nextLink(ms)
      const hasLinks = this.links.size > 0
      for (const link of this.links) link.cut(strike)
      return hasLinks
    }
    const { promise, resolve } = Promise.withResolvers<boolean>()
    const armed: Armed = { strike, struck: () => resolve(true) }
    this.armed.add(armed)
    const timer = setTimeout(() => resolve(false), ms)
    const struck = await promise
    clearTimeout(timer)
    this.armed.delete(armed)
    return struck
  }

  private async nextLink(ms: number): Promise<void> {
    await once(this.server, 'connection', { signal: AbortSignal.timeout(ms) }).catch(() => undefined)
  }

  /** Resolves to true in the moment in which a COMMIT has been sent on; false after `ms` without one. */
  async nextCommit(ms: number): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined
    const seen = new Promise<boolean>((resolve) => {
      this.onCommit = () => resolve(true)
      timer = setTimeout(() => resolve(false), ms)
    })
    const result = await seen
    clearTimeout(timer)
    this.onCommit = undefined
    return result
  }

  /** Asked by a link for each chunk from the client. */
  fate(chunk: Buffer): Strike | undefined {
    const fitting = [...this.armed].find(({ strike }) => (strike === 'lost-commit-reply' ? isCommit : isRequest)(chunk))
    if (!fitting) return undefined
    this.armed.delete(fitting)
    fitting.struck()
    return fitting.strike
  }

  sentOn(chunk: Buffer): void {
    if (this.onCommit && isCommit(chunk)) this.onCommit()
  }

  async close(): Promise<void> {
    for (const link of this.links) link.cut('reset')
    this.server.close()
    await once(this.server, 'close')
  }
}

/** COM_QUERY "COMMIT": what our sessions send. */
const isCommit = (chunk: Buffer): boolean => chunk.includes('\u0003COMMIT')

/** COM_QUIT (5 bytes) and COM_STMT_CLOSE (9) have no reply that could be lost; the shortest statement of ours is COMMIT (11). */
const isRequest = (chunk: Buffer): boolean => chunk.length > 9

type Parcel = Buffer | 'end'

class Link {
  onClosed: () => void = () => undefined
  private readonly sockets: Readonly<Record<Direction, Socket>>
  private readonly proxy: TcpProxy
  private readonly waiting: Readonly<Record<Direction, Parcel[]>> = { toServer: [], toClient: [] }
  private loseReplies = false

  constructor(client: Socket, upstream: Socket, proxy: TcpProxy) {
    this.sockets = { toServer: upstream, toClient: client }
    this.proxy = proxy
    this.read(client, 'toServer')
    this.read(upstream, 'toClient')
  }

  cut(how: 'reset' | 'end'): void {
    for (const socket of Object.values(this.sockets)) {
      if (how === 'end') socket.end()
      else socket.resetAndDestroy()
    }
  }

  pump(): void {
    for (const direction of ['toServer', 'toClient'] as const) {
      const parcels = this.waiting[direction]
      while (parcels.length > 0 && !this.proxy.isSilent(direction)) this.deliver(direction, parcels.shift() ?? 'end')
    }
  }

  private read(from: Socket, direction: Direction): void {
    from.setNoDelay(true)
    from.on('error', () => undefined)
    from.on('data', (chunk: Buffer) => this.take(direction, chunk))
    from.on('close', () => this.take(direction, 'end'))
  }

  private take(direction: Direction, parcel: Parcel): void {
    const { latencyMs } = this.proxy
    const enqueue = (): void => {
      this.waiting[direction].push(parcel)
      this.pump()
    }
    // Timers of one length fire in the order in which they were set.
    if (latencyMs > 0) setTimeout(enqueue, latencyMs)
    else enqueue()
  }

  private deliver(direction: Direction, parcel: Parcel): void {
    const target = this.sockets[direction]
    if (parcel === 'end') {
      target.destroy()
      if (Object.values(this.sockets).every((socket) => socket.destroyed)) this.onClosed()
      return
    }
    if (target.destroyed) return
    if (direction === 'toClient') {
      if (this.loseReplies) this.cut('reset')
      else target.write(parcel)
      return
    }
    const fate = this.proxy.fate(parcel)
    if (fate === 'half-request') {
      target.write(parcel.subarray(0, parcel.length >> 1), () => this.cut('reset'))
      return
    }
    if (fate === 'lost-reply' || fate === 'lost-commit-reply') this.loseReplies = true
    target.write(parcel)
    this.proxy.sentOn(parcel)
  }
}
