import type { MessagePort } from 'node:worker_threads'
import type { FromThread } from '../protocol.ts'
import { RetryableError } from '../handler.ts'

/** A request without its number, which `ask` adds. */
type Ask = Extract<FromThread, { request: number }>
type Unnumbered<T> = T extends unknown ? Omit<T, 'request'> : never

/** The thread's end of the line to the worker: one-way messages, and requests with an answer. */
export class WorkerLink {
  private readonly port: MessagePort
  private readonly waiting = new Map<number, { resolve: (value: number) => void; reject: (error: Error) => void }>()
  private nextRequest = 1

  constructor(port: MessagePort) {
    this.port = port
  }

  tell(message: FromThread): void {
    this.port.postMessage(message)
  }

  /** Answers with a number; rejects when the worker refuses or `signal` aborts first. */
  async ask(message: Unnumbered<Ask>, signal: AbortSignal): Promise<number> {
    signal.throwIfAborted()
    const request = this.nextRequest++
    const onAbort = (): void => this.waiting.get(request)?.reject(signal.reason as Error)
    try {
      return await new Promise<number>((resolve, reject) => {
        this.waiting.set(request, { resolve, reject })
        signal.addEventListener('abort', onAbort, { once: true })
        this.port.postMessage({ ...message, request })
      })
    } finally {
      this.waiting.delete(request)
      signal.removeEventListener('abort', onAbort)
    }
  }

  answer(request: number, value: number): void {
    this.waiting.get(request)?.resolve(value)
  }

  refuse(request: number, code: string, message: string): void {
    this.waiting.get(request)?.reject(new RetryableError(code, message))
  }
}
