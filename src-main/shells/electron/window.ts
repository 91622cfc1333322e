import { BrowserWindow, Menu, screen, type MenuItemConstructorOptions } from 'electron'
import { pageUrl } from './app-scheme.ts'
import { keepWindowState, readWindowState } from './window-state.ts'

export interface WindowOptions {
  readonly preload: string
  readonly stateFile: string
  readonly devTools: boolean
  readonly title: string
}

export function createWindow(options: WindowOptions): BrowserWindow {
  const state = readWindowState(
    options.stateFile,
    screen.getAllDisplays().map((display) => display.workArea)
  )
  const window = new BrowserWindow({
    width: state?.width ?? 1360,
    height: state?.height ?? 860,
    ...(state ? { x: state.x, y: state.y } : {}),
    minWidth: 900,
    minHeight: 600,
    show: false,
    title: options.title,
    backgroundColor: '#101418', // what shows before the page does; the page's dark theme
    webPreferences: {
      preload: options.preload,
      contextIsolation: true,
      sandbox: true,
      nodeIntegration: false,
      nodeIntegrationInWorker: false,
      nodeIntegrationInSubFrames: false,
      webSecurity: true,
      allowRunningInsecureContent: false,
      experimentalFeatures: false,
      webviewTag: false,
      navigateOnDragDrop: false,
      safeDialogs: true,
      spellcheck: false,
      devTools: options.devTools
    }
  })
  if (state?.maximized) window.maximize()
  keepWindowState(window, options.stateFile)
  window.once('ready-to-show', () => window.show())
  window.on('page-title-updated', (event) => event.preventDefault())
  return window
}

export async function showPage(window: BrowserWindow): Promise<void> {
  await window.loadURL(pageUrl)
}

/** Only what the platform needs: macOS has its shortcuts (copy, quit) in the menu, elsewhere the page is the menu. */
export function setMenu(devTools: boolean): void {
  const developer: MenuItemConstructorOptions[] = devTools
    ? [{ label: 'Developer', submenu: [{ role: 'toggleDevTools' }, { role: 'reload' }] }]
    : []
  const mac: MenuItemConstructorOptions[] =
    process.platform === 'darwin' ? [{ role: 'appMenu' }, { role: 'editMenu' }, { role: 'windowMenu' }] : []
  const items = [...mac, ...developer]
  Menu.setApplicationMenu(items.length > 0 ? Menu.buildFromTemplate(items) : null)
}
