import type { AnyRouter } from '@orpc/server'
import { StandardRPCHandler } from '@orpc/server/standard'
import { createServerPeerHandleRequestFn } from '@orpc/server/standard-peer'
import { ServerPeer } from '@orpc/standard-server-peer'
import type { AppLog } from './app-log.ts'

/** A page makes a handful of calls at once; more than this at a time is a broken or hostile one. */
const maxOpenCalls = 128
/** A message that is larger than any valid input (a payload of 1 MiB, escaped). */
export const maxMessageBytes = 8 * 1_048_576
/** Junk that a page may send before its line is cut. */
const maxBadMessages = 100

/** One line to a page, whatever carries it. */
export interface PageLine {
  /** Resolves when the message has left: a stream then waits for a slow page. */
  send(message: string | Uint8Array): Promise<void>
  /** Cuts the line. */
  close(): void
}

export interface PeerSession {
  /** Takes anything, never throws. */
  receive(message: unknown): void
  /** Aborts the calls and streams of this page. */
  end(): void
}

export type ServePage = (line: PageLine) => PeerSession

/**
 * Serves the router over lines of messages. Used instead of oRPC's own two adapters, on the same peer that they are built on, because
 * the MessagePort one leaves rejections unhandled (junk from a page would reach `unhandledRejection`) and neither waits for
 * the socket or limits calls.
 */
export function createPageServer(router: AnyRouter, log: AppLog): ServePage {
  const handler = new StandardRPCHandler(router, {})
  const handle = createServerPeerHandleRequestFn(handler, { context: {} })
  return (line) => serve(line, handle, log)
}

function serve(line: PageLine, handle: Parameters<ServerPeer['message']>[1], log: AppLog): PeerSession {
  let ended = false
  let bad = 0
  const peer = new ServerPeer(async (message) => {
    if (!ended) await line.send(message as string | Uint8Array)
  })

  function end(): void {
    if (ended) return
    ended = true
    peer.close()
  }

  function cut(reason: string): void {
    if (ended) return
    log.write('warn', `A page's line was cut: ${reason}`)
    end()
    line.close()
  }

  function failed(): void {
    bad += 1
    if (bad > maxBadMessages) cut('too many messages that mean nothing')
  }

  function receive(message: unknown): void {
    if (ended) return
    const raw = asMessage(message)
    if (raw === undefined) return failed()
    if (peer.length > maxOpenCalls) return cut('too many calls at the same time')
    peer.message(raw, handle).catch(failed)
  }

  return { receive, end }
}

/** A text or bytes of a bounded size; undefined for anything else, such as a structured clone. */
function asMessage(message: unknown): string | Uint8Array<ArrayBuffer> | undefined {
  if (typeof message === 'string') return message.length <= maxMessageBytes ? message : undefined
  if (message instanceof ArrayBuffer) return asMessage(new Uint8Array(message))
  if (!(message instanceof Uint8Array) || message.byteLength > maxMessageBytes) return undefined
  return new Uint8Array(message)
}
