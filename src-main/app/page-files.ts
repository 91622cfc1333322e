import { randomBytes } from 'node:crypto'
import { readFile, realpath } from 'node:fs/promises'
import { extname, join, sep } from 'node:path'

/*
 * The built page, as both shells serve it: the same files, the same headers, the same refusals.
 */

export interface PageFile {
  readonly body: Uint8Array<ArrayBuffer>
  readonly headers: Readonly<Record<string, string>>
}

export interface PageFiles {
  /** The file behind a URL's path; undefined when there is none that may be served. */
  read(pathname: string): Promise<PageFile | undefined>
}

/** What the build makes. A file of another kind in the folder is not part of the page. */
const contentTypes: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2'
}

const nonceMark = '__CSP_NONCE__'
/** Names that a build gives: no `%`, no backslash, no colon, so nothing is left to decode or to interpret. */
const plainPath = /^(?:\/[A-Za-z0-9_@-][A-Za-z0-9_.@-]*)+$/

/** For every answer, whatever it carries. */
export const securityHeaders: Readonly<Record<string, string>> = {
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-embedder-policy': 'require-corp',
  'cross-origin-resource-policy': 'same-origin',
  'x-frame-options': 'DENY',
  'permissions-policy': 'camera=(), microphone=(), geolocation=(), usb=(), serial=(), hid=(), payment=()',
  'content-security-policy': "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
}

function contentSecurityPolicy(nonce: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'"
  ].join('; ')
}

export function createPageFiles(root: string): PageFiles {
  return { read: (pathname) => readPageFile(root, pathname === '/' ? '/index.html' : pathname) }
}

async function readPageFile(root: string, pathname: string): Promise<PageFile | undefined> {
  const type = contentTypes[extname(pathname)]
  if (!type || !plainPath.test(pathname)) return undefined
  const body = await readInside(root, pathname)
  if (!body) return undefined
  if (!pathname.endsWith('.html')) return { body, headers: { ...securityHeaders, 'content-type': type } }
  const nonce = randomBytes(16).toString('base64')
  const html = new TextDecoder().decode(body).replaceAll(nonceMark, nonce)
  const headers = { ...securityHeaders, 'content-type': type, 'content-security-policy': contentSecurityPolicy(nonce) }
  return { body: new TextEncoder().encode(html), headers }
}

/** Links are resolved before the comparison: one that leads out of the folder is no part of the page. */
async function readInside(root: string, pathname: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
  try {
    const base = await realpath(root)
    const file = await realpath(join(base, pathname))
    if (!file.startsWith(base + sep)) return undefined
    return new Uint8Array(await readFile(file))
  } catch {
    return undefined // not there, or not readable: the same to whoever asks
  }
}
