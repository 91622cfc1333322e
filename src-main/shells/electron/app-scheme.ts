import { protocol, type Session } from 'electron'
import { createPageFiles, securityHeaders } from '../../app/index.ts'

export const pageOrigin = 'app://main'
export const pageUrl = `${pageOrigin}/index.html#/`

/** Before `ready`. Standard and secure: it has an origin, so that storage, CSP 'self' and fetch work as on https. */
export function registerAppScheme(): void {
  protocol.registerSchemesAsPrivileged([
    { scheme: 'app', privileges: { standard: true, secure: true, supportFetchAPI: true, codeCache: true } }
  ])
}

/** Serves the built page, and nothing else, to this session. */
export function serveAppScheme(session: Session, root: string): void {
  const files = createPageFiles(root)
  session.protocol.handle('app', async (request) => {
    const url = new URL(request.url)
    const file = request.method === 'GET' && url.host === 'main' ? await files.read(url.pathname) : undefined
    if (!file) return new Response('not found', { status: 404, headers: securityHeaders })
    return new Response(file.body, { headers: file.headers })
  })
}
