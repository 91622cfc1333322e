import { app, type Session, type WebContents } from 'electron'
import { pageOrigin } from './app-scheme.ts'

/*
 * What no page in this app may do, ours included: go elsewhere, open windows, embed, ask for rights, reach the network.
 */

/** For every web contents that will ever exist. Before the first window. */
export function lockAllContents(): void {
  app.on('web-contents-created', (_event, contents) => lockContents(contents))
}

function lockContents(contents: WebContents): void {
  contents.on('will-navigate', (event) => event.preventDefault())
  contents.on('will-redirect', (event) => event.preventDefault())
  contents.on('will-frame-navigate', (event) => event.preventDefault())
  contents.on('will-attach-webview', (event) => event.preventDefault())
  contents.on('select-bluetooth-device', (event, _devices, choose) => {
    event.preventDefault()
    choose('')
  })
  // There is no https address that the app has to open, so nothing goes to the system's browser either.
  contents.setWindowOpenHandler(() => ({ action: 'deny' }))
}

export function lockSession(session: Session): void {
  session.setPermissionRequestHandler((_contents, _permission, decide) => decide(false))
  session.setPermissionCheckHandler(() => false)
  session.setDevicePermissionHandler(() => false)
  session.setDisplayMediaRequestHandler((_request, decide) => decide({}))
  session.on('select-hid-device', (event, _details, choose) => {
    event.preventDefault()
    choose(null)
  })
  session.on('select-usb-device', (event, _details, choose) => {
    event.preventDefault()
    choose()
  })
  session.on('select-serial-port', (event, _ports, _contents, choose) => {
    event.preventDefault()
    choose('')
  })
  session.setSpellCheckerEnabled(false) // it downloads dictionaries
  session.webRequest.onBeforeRequest((request, decide) => decide({ cancel: !isOurs(request.url) }))
  // A page makes files (an error report, an export) as blobs; nothing else is a download.
  session.on('will-download', (event, item) => {
    if (!item.getURL().startsWith(`blob:${pageOrigin}/`)) event.preventDefault()
  })
}

/** No remote content at all: the page, what it made itself, and the developer tools where they are allowed. */
function isOurs(url: string): boolean {
  return (
    url.startsWith(`${pageOrigin}/`) ||
    url.startsWith(`blob:${pageOrigin}/`) ||
    url.startsWith('data:') ||
    url.startsWith('devtools://')
  )
}
