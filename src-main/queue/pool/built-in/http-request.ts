import { z } from 'zod'
import { classify, classOfHttpStatus } from '../error-classes.ts'
import {
  defineHandler,
  FinalError,
  HandlerError,
  isHandlerError,
  RetryableError,
  type HandlerContext
} from '../handler.ts'

const url = z.url({ protocol: /^https?$/, error: 'an http or https address' })

const payload = z.object({
  url,
  method: z.enum(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']).default('GET'),
  headers: z.record(z.string(), z.string()).default({}),
  body: z.string().nullable().default(null),
  timeoutMs: z.int().min(1).max(600_000).default(10_000).describe('For the whole exchange, milliseconds'),
  maxBytes: z.int().min(0).max(16_777_216).default(1_048_576).describe('A longer answer fails the attempt')
})
type Request = z.output<typeof payload>

/** Bytes of the answer that the result keeps. */
const keptBytes = 16_384

export const httpRequestHandler = defineHandler({
  type: 'http-request',
  description: 'Sends one HTTP request. 408, 425, 429 and 5xx are retried, other refusals are final.',
  payload,
  example: { url: 'https://example.com/', method: 'GET' },
  async execute(context, request) {
    const deadline = AbortSignal.timeout(request.timeoutMs)
    try {
      return await exchange(context, request, AbortSignal.any([context.signal, deadline]))
    } catch (error) {
      if (isHandlerError(error) || context.signal.aborted) throw error
      if (deadline.aborted) {
        throw new RetryableError('HTTP_TIMEOUT', `No answer within ${request.timeoutMs} ms.`, { cause: error })
      }
      const { code, class: errorClass } = classify(error)
      throw new HandlerError(errorClass, code === 'TYPE_ERROR' ? 'HTTP_FAILED' : code, 'The request failed.', {
        cause: error instanceof Error && error.cause instanceof Error ? error.cause : error
      })
    }
  }
})

async function exchange(context: HandlerContext, request: Request, signal: AbortSignal): Promise<object> {
  context.log(`${request.method} ${withoutSecrets(request.url)}`)
  const response = await fetch(request.url, {
    method: request.method,
    headers: headersOf(request, context.idempotencyKey),
    body: request.body,
    signal
  })
  const body = await readBody(response, request.maxBytes)
  context.log(`answered ${response.status} with ${body.length} bytes`)
  if (!response.ok) {
    const message = `The server answered ${response.status} ${response.statusText}`.trimEnd()
    throw new HandlerError(classOfHttpStatus(response.status), `HTTP_${response.status}`, `${message}.`)
  }
  return {
    status: response.status,
    contentType: response.headers.get('content-type'),
    bytes: body.length,
    body: body.toString('utf8', 0, keptBytes),
    truncated: body.length > keptBytes
  }
}

/** A request that changes something carries the task's key, so that the server can tell a repetition. */
function headersOf(request: Request, idempotencyKey: string): Headers {
  const headers = new Headers(request.headers)
  const changes = request.method !== 'GET' && request.method !== 'HEAD'
  if (changes && !headers.has('idempotency-key')) headers.set('idempotency-key', encodeURIComponent(idempotencyKey))
  return headers
}

async function readBody(response: Response, maxBytes: number): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length
    if (bytes > maxBytes) throw new FinalError('RESPONSE_TOO_LARGE', `The answer has more than ${maxBytes} bytes.`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** For the log: user, password, query and fragment may hold secrets. */
function withoutSecrets(address: string): string {
  const { origin, pathname, search } = new URL(address)
  return `${origin}${pathname}${search === '' ? '' : '?…'}`
}
