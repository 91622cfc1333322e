// The least that an Electron app can be: one sandboxed window with one painted word. What the runtime itself costs. Nothing is awaited at the
// top: Playwright lets an app be ready only once its main module has been loaded.
import { app, BrowserWindow } from 'electron'

void app.whenReady().then(() => {
  const window = new BrowserWindow({ width: 1280, height: 800, webPreferences: { sandbox: true } })
  return window.loadURL('data:text/html,<h1>empty</h1>')
})
