import { createSocket, type Socket } from 'node:dgram'
import { messageOf } from './error-text.ts'

export const loopback = '127.0.0.1'

/** What a hint says. It only keeps stray datagrams apart: nothing in it is believed. */
export const hintText = Buffer.from('taskdeck/hint/1')

export interface HintListenerOptions {
  readonly onHint: () => void
  /** It does not listen (any more): polling alone goes on. */
  readonly onProblem: (message: string) => void
}

/**
 * Where other processes of this host say that there is new work, on a UDP port of the loopback address. A hint may be lost, forged or
 * repeated without end: it only makes a poll come sooner, and `ClaimLoop` bounds how often.
 */
export class HintListener {
  private readonly options: HintListenerOptions
  private socket: Socket | undefined
  private bound: number | null = null
  private stopped = false

  constructor(options: HintListenerOptions) {
    this.options = options
  }

  /** null while it does not listen. */
  get port(): number | null {
    return this.bound
  }

  /** Resolves when it listens, cannot, or was stopped meanwhile. Never rejects. */
  start(): Promise<void> {
    if (this.stopped) return Promise.resolve()
    const socket = createSocket('udp4')
    this.socket = socket
    socket.unref() // a worker lives by its loops, not by this
    socket.on('message', (message) => {
      if (message.equals(hintText)) this.options.onHint()
    })
    return new Promise((resolve) => {
      socket.once('listening', () => {
        this.bound = socket.address().port
        resolve()
      })
      socket.on('error', (error) => {
        this.options.onProblem(`no hints of new work: ${messageOf(error)}`)
        this.stop()
        resolve()
      })
      socket.once('close', resolve)
      socket.bind({ address: loopback, port: 0 })
    })
  }

  /** For good, also before it was started. Idempotent. */
  stop(): void {
    this.stopped = true
    this.bound = null
    this.socket?.close()
    this.socket = undefined
  }
}
