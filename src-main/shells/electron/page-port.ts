import { ipcMain, type IpcMainEvent, type MessagePortMain } from 'electron'
import type { ServePage } from '../../app/index.ts'
import { pageOrigin } from './app-scheme.ts'

/** Ports of one page at a time; it opens a new one after each reload. */
const maxPorts = 8

export interface PagePortOptions {
  readonly servePage: ServePage
  /** Whether a web contents is one of our windows. */
  isOurWindow(contentsId: number): boolean
  onRefused(url: string): void
}

/** Serves the ports that our page hands over (docs/transport.md). The only IPC channel there is. */
export function servePagePorts(options: PagePortOptions): void {
  const open = new Set<MessagePortMain>()
  ipcMain.on('orpc:connect', (event) => {
    const [port] = event.ports
    if (!port) return
    if (!isOurPage(event, options) || open.size >= maxPorts) {
      options.onRefused(event.senderFrame?.url.slice(0, 200) ?? 'a frame that is gone')
      return port.close()
    }
    open.add(port)
    const page = options.servePage({
      // A port never says that its page is slow: the hub's pace joins what comes at a high rate.
      send: (message) => {
        port.postMessage(message)
        return Promise.resolve()
      },
      close: () => port.close()
    })
    port.on('message', ({ data }: { data: unknown }) => page.receive(data))
    port.on('close', () => {
      open.delete(port)
      page.end()
    })
    port.start()
  })
}

/** The main frame of our window, showing our own page now: not a frame in it, and not what it may have become. */
function isOurPage(event: IpcMainEvent, options: PagePortOptions): boolean {
  const frame = event.senderFrame
  if (!frame || frame !== event.sender.mainFrame) return false
  if (!options.isOurWindow(event.sender.id)) return false
  return frame.origin === pageOrigin && frame.url.startsWith(`${pageOrigin}/index.html`)
}
