import { lookup as resolve, type LookupAddress, type LookupOptions } from 'node:dns'
import { request as httpRequest, type ClientRequest, type IncomingMessage } from 'node:http'
import { request as httpsRequest, type RequestOptions } from 'node:https'
import type { LookupFunction } from 'node:net'
import { withDeadline, type Clock } from '../../kernel/index.ts'
import { isLoopbackAddress } from './webhook-address.ts'

/** Why nothing usable came back. */
export type NoAnswerReason =
  'timeout' | 'refused' | 'unknownHost' | 'certificate' | 'notLoopback' | 'broken' | 'stopped'

export class NoAnswer extends Error {
  readonly reason: NoAnswerReason

  constructor(reason: NoAnswerReason, options?: ErrorOptions) {
    super(reason, options)
    this.reason = reason
  }
}

export interface HttpAnswer {
  readonly status: number
  /** At most `maxAnswerBytes` of it. */
  readonly text: string
}

export interface PostOptions {
  readonly clock: Clock
  readonly deadlineMs: number
  readonly signal: AbortSignal
}

/** What is read of an answer; the receivers that we know say less than 200 bytes. */
export const maxAnswerBytes = 16_384

/**
 * One POST of a JSON text, on a connection of its own. Redirects are answers like any other: nobody is followed anywhere. Throws NoAnswer.
 */
export async function postJson(url: URL, body: string, options: PostOptions): Promise<HttpAnswer> {
  const { clock, deadlineMs, signal } = options
  if (signal.aborted) throw new NoAnswer('stopped')
  const begin = url.protocol === 'https:' ? httpsRequest : httpRequest
  const request = begin(url, requestOptions(url, body))
  const onAbort = (): void => void request.destroy(new NoAnswer('stopped'))
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    return await withDeadline(clock, deadlineMs, answerOf(request, body), () => new NoAnswer('timeout'))
  } catch (error) {
    throw error instanceof NoAnswer ? error : new NoAnswer(reasonOf(error), { cause: error })
  } finally {
    signal.removeEventListener('abort', onAbort)
    request.destroy()
  }
}

function requestOptions(url: URL, body: string): RequestOptions {
  return {
    method: 'POST',
    agent: false,
    headers: {
      'content-type': 'application/json; charset=utf-8',
      'content-length': Buffer.byteLength(body),
      'user-agent': 'Taskdeck',
      accept: 'application/json'
    },
    ...(url.protocol === 'http:' ? { lookup: loopbackOnly } : {})
  }
}

/** Plain http is for this machine; what `localhost` means is the resolver's word, so it is checked when it is used. */
const loopbackOnly: LookupFunction = (host, options: LookupOptions, done) => {
  resolve(host, options, (error, address: string | LookupAddress[], family) => {
    const found = typeof address === 'string' ? [address] : (address ?? []).map((one) => one.address)
    if (!error && !found.every(isLoopbackAddress)) return done(new NoAnswer('notLoopback'), address, family)
    done(error, address, family)
  })
}

function answerOf(request: ClientRequest, body: string): Promise<HttpAnswer> {
  return new Promise((resolvePromise, reject) => {
    request.on('error', reject)
    request.on('response', (response) => void readAnswer(response).then(resolvePromise, reject))
    request.end(body)
  })
}

async function readAnswer(response: IncomingMessage): Promise<HttpAnswer> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    chunks.push(chunk.subarray(0, maxAnswerBytes - bytes))
    bytes += chunk.length
    if (bytes >= maxAnswerBytes) break
  }
  return { status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString('utf8') }
}

function reasonOf(error: unknown): NoAnswerReason {
  const { code } = error as { code?: unknown }
  const name = typeof code === 'string' ? code : ''
  if (name === 'ECONNREFUSED' || name === 'EHOSTUNREACH' || name === 'ENETUNREACH') return 'refused'
  if (name === 'ENOTFOUND' || name === 'EAI_AGAIN') return 'unknownHost'
  if (name === 'ETIMEDOUT') return 'timeout'
  if (/^(ERR_TLS|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|ERR_SSL|EPROTO)/.test(name)) return 'certificate'
  return 'broken'
}
