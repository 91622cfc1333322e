import { contextBridge, ipcRenderer } from 'electron'

/*
 * The only bridge between page and main process: it passes one MessagePort on (docs/transport.md). The page gets no function of
 * Electron's, and main checks the sender again.
 */
window.addEventListener('message', (event: MessageEvent<unknown>) => {
  const [port] = event.ports
  if (event.source !== window || event.data !== 'orpc:connect' || !port) return
  ipcRenderer.postMessage('orpc:connect', null, [port])
})

contextBridge.exposeInMainWorld('taskdeck', { shell: 'electron' })
