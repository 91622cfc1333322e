import { createORPCClient, DynamicLink } from '@orpc/client'
import { shallowReadonly, shallowRef, type Ref } from 'vue'
import type { TaskdeckClient } from './client.ts'
import { OpenError, type Carrier } from './link.ts'
import { AppGoneError } from './problem.ts'

export type TransportStatus =
  | { readonly kind: 'connecting' }
  | { readonly kind: 'open' }
  /** Lost, or never reached; the page tries again by itself. `since` is the page's clock. */
  | { readonly kind: 'gone'; readonly since: number }
  /** The server knows this page no more; `code` as docs/transport.md lists them. */
  | { readonly kind: 'refused'; readonly code: string }

export interface Transport {
  readonly client: TaskdeckClient
  readonly status: Readonly<Ref<TransportStatus>>
  /** Keeps a carrier open until `signal` aborts; `onOpen` runs on each new one and its signal aborts with it. */
  run(onOpen: (signal: AbortSignal) => Promise<void>, signal: AbortSignal): Promise<void>
}

const firstDelayMs = 250
const longestDelayMs = 4_000

/** A client that outlives its carriers: while there is none, calls fail at once with AppGoneError. */
export function createTransport(open: () => Promise<Carrier>): Transport {
  const status = shallowRef<TransportStatus>({ kind: 'connecting' })
  let carrier: Carrier | undefined
  const client: TaskdeckClient = createORPCClient(
    new DynamicLink(() => {
      if (!carrier) throw new AppGoneError()
      return carrier.link
    })
  )

  function lost(): void {
    carrier = undefined
    if (status.value.kind !== 'gone') status.value = { kind: 'gone', since: Date.now() }
  }

  /** One life of a carrier, from its opening to its end. */
  async function live(onOpen: (signal: AbortSignal) => Promise<void>, outer: AbortSignal): Promise<void> {
    const mine = await open()
    const life = new AbortController()
    const end = (): void => life.abort()
    outer.addEventListener('abort', end, { once: true })
    carrier = mine
    void mine.closed.then(end)
    try {
      await onOpen(life.signal)
    } finally {
      outer.removeEventListener('abort', end)
      life.abort()
      mine.close()
      carrier = undefined
    }
  }

  return {
    client,
    status: shallowReadonly(status),
    async run(onOpen, signal) {
      let delay = firstDelayMs
      while (!signal.aborted) {
        try {
          await live(async (life) => {
            await client.app.info(undefined, { signal: life }) // the carrier carries
            status.value = { kind: 'open' }
            delay = firstDelayMs
            await onOpen(life)
          }, signal)
        } catch (error) {
          if (error instanceof OpenError && error.failure.kind === 'refused') {
            status.value = { kind: 'refused', code: error.failure.code }
            return
          }
        }
        if (signal.aborted) return
        lost()
        await pause(delay, signal)
        delay = Math.min(longestDelayMs, delay * 2)
      }
    }
  }
}

/** Resolves after `ms`, at once when the tab is shown or the network is back, or when the signal aborts. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer)
      document.removeEventListener('visibilitychange', done)
      signal.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    document.addEventListener('visibilitychange', done)
    signal.addEventListener('abort', done, { once: true })
  })
}
