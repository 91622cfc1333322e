import type { MessagePort } from 'node:worker_threads'
import { contextBridge, ipcRenderer } from 'electron'

/*
 * The only bridge between page and main process: it passes one MessagePort on (docs/transport.md). The page gets no function of
 * Electron's, and main checks the sender again.
 */

/** The little of a window that this needs; the main process's types have none. */
interface PageWindow {
  addEventListener(
    type: 'message',
    listener: (event: {
      readonly source: unknown
      readonly data: unknown
      readonly ports: readonly MessagePort[]
    }) => void
  ): void
}
const page = globalThis as unknown as PageWindow

page.addEventListener('message', ({ source, data, ports: [port] }) => {
  if (source !== page || data !== 'orpc:connect' || !port) return
  ipcRenderer.postMessage('orpc:connect', null, [port])
})

contextBridge.exposeInMainWorld('taskdeck', { shell: 'electron' })
