// The least that an Electron app can be: one sandboxed window with one painted word. What the runtime itself costs.
import { app, BrowserWindow } from 'electron'

await app.whenReady()
const window = new BrowserWindow({ width: 1280, height: 800, webPreferences: { sandbox: true } })
await window.loadURL('data:text/html,<h1>empty</h1>')
