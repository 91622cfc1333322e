import { mkdirSync } from 'node:fs'
import { hostname } from 'node:os'
import { join, resolve } from 'node:path'
import { app, BrowserWindow, dialog, session, type Rectangle } from 'electron'
import { createApp, defaultDataDirectory, type TaskdeckApp } from '../../app/index.ts'
import { systemClock, toAppError, withDeadline } from '../../kernel/index.ts'
import { createDesktopNotifier } from './desktop-notifications.ts'
import { registerAppScheme, serveAppScheme } from './app-scheme.ts'
import { parseLaunchArguments } from './launch-arguments.ts'
import { lockAllContents, lockSession } from './lockdown.ts'
import { servePagePorts } from './page-port.ts'
import { createWindow, setMenu, showPage } from './window.ts'
import { createVault } from './vault.ts'

/*
 * The desktop shell. Nothing is awaited at the top level: Electron holds `ready` back until this module has run.
 */

/** The build puts this file into `out/main`. */
const projectRoot = resolve(import.meta.dirname, '../..')
const stopDeadlineMs = 15_000
const maxReloads = 3

const args = parseLaunchArguments(process.argv.slice(1))
const dataDir = args.data ?? defaultDataDirectory(process.env, process.platform)
const devTools = !app.isPackaged && process.env['TASKDECK_DEVTOOLS'] === '1'

// As root Chromium starts only with --no-sandbox, and this call would take that switch back. Who wants it there (a container, a
// test) may have it; what users install never does.
if (app.isPackaged || !app.commandLine.hasSwitch('no-sandbox')) app.enableSandbox()
registerAppScheme()
lockAllContents()
useDataDirectory()
if (isDebugged()) refuseToStart('Taskdeck does not start with debugging switches such as --remote-debugging-port.')
else if (!app.requestSingleInstanceLock()) {
  process.stderr.write('Taskdeck is already running: its window is shown.\n')
  app.exit(0)
} else void app.whenReady().then(start).catch(failToStart)

/** Chromium's own files go into our folder too, so that two data folders are two independent apps. */
function useDataDirectory(): void {
  const profile = join(dataDir, 'chromium')
  mkdirSync(profile, { recursive: true, mode: 0o700 })
  app.setPath('userData', profile)
  app.setPath('sessionData', profile)
}

/** Tests drive the unpackaged app through these; what users install must not be driven by anybody. */
function isDebugged(): boolean {
  const switches = ['remote-debugging-port', 'remote-debugging-pipe', 'inspect', 'inspect-brk']
  return app.isPackaged && switches.some((name) => app.commandLine.hasSwitch(name))
}

async function start(): Promise<void> {
  setMenu(devTools)
  lockSession(session.defaultSession)
  serveAppScheme(session.defaultSession, join(projectRoot, 'out/renderer'))
  const taskdeck = await createApp({
    dataDir,
    shell: 'electron',
    version: app.getVersion(),
    clock: systemClock,
    vault: await createVault(),
    desktop: createDesktopNotifier(),
    hostName: hostname(),
    resourcesDir: join(projectRoot, 'resources'),
    migrationsDir: join(projectRoot, 'migrations'),
    demo: args.demo,
    metricsPort: args.metricsPort,
    capturePage,
    validateOutputs: process.env['TASKDECK_VALIDATE_OUTPUTS'] === '1'
  })
  // A promise that nobody awaited is a bug of ours; it must not end the tasks that run here.
  process.on('unhandledRejection', (error) => taskdeck.log.bug(error))
  stopWithTheApp(taskdeck)
  servePagePorts({
    servePage: taskdeck.servePage,
    isOurWindow: (id) => BrowserWindow.getAllWindows().some((window) => window.webContents.id === id),
    onRefused: (url) => taskdeck.log.write('warn', `A port from ${url} was refused.`)
  })
  await openWindow(taskdeck)
}

/** There is one window, and only its own page asks. */
async function capturePage(area: Rectangle): Promise<Uint8Array> {
  const [window] = BrowserWindow.getAllWindows()
  if (!window || window.isDestroyed()) throw new Error('There is no window any more')
  return (await window.webContents.capturePage(area)).toPNG()
}

async function openWindow(taskdeck: TaskdeckApp): Promise<void> {
  const window = createWindow({
    preload: join(import.meta.dirname, '../preload/index.cjs'),
    stateFile: join(dataDir, 'window.json'),
    devTools,
    title: 'Taskdeck'
  })
  app.on('second-instance', () => {
    if (window.isDestroyed()) return
    if (window.isMinimized()) window.restore()
    window.focus()
  })
  let reloads = 0
  window.webContents.on('render-process-gone', (_event, { reason }) => {
    taskdeck.log.write('error', `The page's process ended: ${reason}`)
    if (reason !== 'clean-exit' && reloads++ < maxReloads) void showPage(window)
  })
  await showPage(window)
}

/** Quitting waits for the app's clean end, once, within a deadline. */
function stopWithTheApp(taskdeck: TaskdeckApp): void {
  let stopped: Promise<void> | undefined
  app.on('window-all-closed', () => app.quit())
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => app.quit())
  app.on('will-quit', (event) => {
    event.preventDefault()
    stopped ??= stop()
  })

  async function stop(): Promise<void> {
    try {
      await withDeadline(systemClock, stopDeadlineMs, taskdeck.stop(), () => new Error('stopping took too long'))
      app.exit(0)
    } catch (error) {
      taskdeck.log.bug(error)
      app.exit(1)
    }
  }
}

function failToStart(error: unknown): void {
  refuseToStart(toAppError(error).message)
}

function refuseToStart(message: string): void {
  process.stderr.write(`${message}\n`)
  // Without a terminal nobody would see it.
  if (app.isReady() && !process.stderr.isTTY && process.env['TASKDECK_NO_DIALOGS'] !== '1')
    dialog.showErrorBox('Taskdeck cannot start', message)
  app.exit(1)
}
