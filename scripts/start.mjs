/* `npm start`: sets up what is missing and runs the product in the shell that fits this machine. */
import { homedir } from 'node:os'
import { isAbsolute, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { findElectron, hasDisplay } from './electron-runtime.mjs'
import {
  SetupError,
  callerDir,
  ensureBuild,
  ensureDependencies,
  root,
  runCommand,
  stopWithNpm,
  supervise,
  toolNode
} from './setup.mjs'

const usage = `Usage: npm start -- [options]
  --shell electron|server   desktop window, or a page in your browser (default: what this machine can show)
  --port N                  port of the server shell (default: a free one)
  --data DIR                where Taskdeck keeps its files (default: ${defaultDataDir()})
  --demo                    also run the sample workload
  --metrics-port N          what Taskdeck sees, for Prometheus, at http://127.0.0.1:N/metrics (0: any free port; see docs/outside.md)
  --help`

await runCommand(async () => {
  const options = parse(process.argv.slice(2))
  if (options.help) {
    console.log(usage)
    return 0
  }
  if (options.shell === 'electron' && !hasDisplay())
    throw new SetupError(
      'there is no display (neither DISPLAY nor WAYLAND_DISPLAY is set), so no window can be opened. Use `npm start -- --shell server`, or run this on a desktop or under xvfb-run.'
    )
  stopWithNpm()
  await ensureDependencies()
  await ensureBuild()
  const shell = await chooseShell(options)
  console.log(shell.line)
  const metrics = options.metricsPort === undefined ? [] : ['--metrics-port', options.metricsPort]
  const shared = ['--data', options.data, ...(options.demo ? ['--demo'] : []), ...metrics]
  if (shell.electron) return startElectron(shell.electron, shared)
  return supervise(toolNode(), [join(root, 'out/main/server.js'), '--port', String(options.port ?? 0), ...shared])
})

function parse(args) {
  const options = {
    shell: { type: 'string' },
    port: { type: 'string' },
    data: { type: 'string' },
    demo: { type: 'boolean' },
    'metrics-port': { type: 'string' },
    help: { type: 'boolean' }
  }
  let values
  try {
    values = parseArgs({ args, options }).values
  } catch (error) {
    refuse(error.code === 'ERR_PARSE_ARGS_UNEXPECTED_POSITIONAL' ? strayText(error) : error.message)
  }
  // npm takes what stands before a `--` as its own: a start without the demo would say nothing of it
  const swallowed = Object.keys(options).find((name) => values[name] === undefined && npmTook(name))
  if (swallowed) refuse(`--${swallowed} went to npm: write -- before the options, as in npm start -- --${swallowed}.`)
  const { shell, port, data, demo = false, help = false, 'metrics-port': metricsPort } = values
  if (shell !== undefined && shell !== 'electron' && shell !== 'server')
    refuse(`--shell is "electron" or "server", not "${shell}".`)
  refuseNoPort('--port', port)
  refuseNoPort('--metrics-port', metricsPort)
  if (port !== undefined && shell === 'electron')
    refuse('--port belongs to the server shell: the window listens on none.')
  if (data === '') refuse('--data needs a folder.')
  const folder = data === undefined ? defaultDataDir() : resolve(callerDir(), data)
  return { shell, port, demo, help, metricsPort, data: folder }
}

function refuseNoPort(option, text) {
  if (text === undefined || (/^\d{1,5}$/.test(text) && Number(text) <= 65_535)) return
  refuse(`${option} is a number from 0 (any free port) to 65535, not "${text}".`)
}

/** `--shell` and `--help` are npm's own options too and always have a value. */
function npmTook(name) {
  const variable = `npm_config_${name.replaceAll('-', '_')}`
  return ['demo', 'data', 'port', 'metrics-port'].includes(name) && process.env[variable] !== undefined
}

function strayText(error) {
  const stray = /'(.*)'/.exec(error.message)?.[1] ?? ''
  return `"${stray}" belongs to no option. Options follow a --, as in npm start -- --shell server.`
}

function refuse(text) {
  throw new SetupError(`${text}\n${usage}`, { exitCode: 2 })
}

function defaultDataDir() {
  if (process.platform === 'darwin') return join(homedir(), 'Library/Application Support/Taskdeck')
  if (process.platform === 'win32')
    return join(process.env.LOCALAPPDATA ?? join(homedir(), 'AppData', 'Local'), 'Taskdeck')
  const xdg = process.env.XDG_DATA_HOME
  return join(xdg && isAbsolute(xdg) ? xdg : join(homedir(), '.local/share'), 'taskdeck')
}

/** `{line, electron?}`: the shell in one line with its reason and the way to the other one. */
async function chooseShell({ shell, port }) {
  const server = (reason, other) => ({ line: `Shell: server (a page in your browser), because ${reason}. ${other}` })
  const desktopHint = 'For the desktop window: npm start -- --shell electron'
  if (shell === 'server') return server('--shell server was given', `${desktopHint}.`)
  if (shell === undefined && port !== undefined) return server('--port was given', `${desktopHint}.`)
  if (shell === undefined && !hasDisplay())
    return server('there is no display (DISPLAY and WAYLAND_DISPLAY are not set)', `${desktopHint}, on a desktop.`)
  const electron = await findElectron({ insist: shell === 'electron' })
  if (!electron.problem) {
    const reason = shell === 'electron' ? '--shell electron was given' : 'there is a display'
    const line = `Shell: desktop window (Electron ${electron.version}), because ${reason}. For a page in your browser: npm start -- --shell server.`
    return { line, electron }
  }
  if (shell === 'electron')
    throw new SetupError(
      `${electron.problem}. Check the network, or set ELECTRON_OVERRIDE_DIST_PATH to the folder of an Electron, or use \`npm start -- --shell server\`.`
    )
  return server(electron.problem, `To try again: npm start -- --shell electron.`)
}

function startElectron({ binary, env }, args) {
  // Chromium's sandbox refuses to run as root
  const sandbox = process.getuid?.() === 0 ? ['--no-sandbox'] : []
  const childEnv = { ...process.env, ...env }
  delete childEnv.ELECTRON_RUN_AS_NODE
  return supervise(binary, [...sandbox, root, ...args], { env: childEnv })
}
