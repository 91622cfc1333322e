import type { IncomingMessage } from 'node:http'

/*
 * What is asked of every request before anything else happens, files and health included. A page on the web can make the user's browser
 * send requests here: DNS rebinding shows in Host, a foreign page in Origin and Sec-Fetch-Site.
 */

export interface Refusal {
  readonly status: 400 | 403
  readonly reason: string
}

/** undefined when the request may go on. */
export function refuse(request: IncomingMessage, port: number, needsOrigin: boolean): Refusal | undefined {
  const { headers } = request
  // Older versions need no Host, and no browser speaks them.
  if (request.httpVersion !== '1.1') return { status: 400, reason: 'HTTP/1.1 only' }
  if (countHeader(request, 'host') !== 1) return { status: 400, reason: 'exactly one Host header' }
  const target = request.url ?? ''
  // An absolute URI would name a second host, `//x` looks like one.
  if (!target.startsWith('/') || target.startsWith('//')) return { status: 400, reason: 'the target is a path' }
  const host = headers.host
  if (host !== `127.0.0.1:${port}` && host !== `localhost:${port}`)
    return { status: 403, reason: 'this address is not one of ours' }
  if (countHeader(request, 'origin') > 1) return { status: 400, reason: 'at most one Origin header' }
  if (headers.origin === undefined && needsOrigin) return { status: 403, reason: 'an Origin is required' }
  if (headers.origin !== undefined && headers.origin !== `http://${host}`)
    return { status: 403, reason: 'foreign origin' }
  // `none` is typed or opened from outside a browser; absent is not a browser.
  const site = headers['sec-fetch-site']
  if (site !== undefined && site !== 'same-origin' && site !== 'none')
    return { status: 403, reason: 'request from another site' }
  return undefined
}

/** Node keeps the first of repeated headers, so only the raw list shows a smuggled second one. */
function countHeader(request: IncomingMessage, name: string): number {
  return request.rawHeaders.filter((text, index) => index % 2 === 0 && text.toLowerCase() === name).length
}
