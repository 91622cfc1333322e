/*
 * What every command needs before it can run the product: packages, a new enough Node, a current build. Plain ESM without
 * dependencies, because it runs on the system's Node from a clone that has no node_modules yet.
 */
import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { constants, homedir, setPriority } from 'node:os'
import { basename, delimiter, dirname, isAbsolute, join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

export const root = resolve(fileURLToPath(new URL('..', import.meta.url)))
const modules = join(root, 'node_modules')

/** A failure with a text for the person at the terminal; everything else thrown is a bug and shows its stack. */
export class SetupError extends Error {
  constructor(message, { exitCode = 1, output = '' } = {}) {
    super(message)
    this.exitCode = exitCode
    this.output = output
  }
}

/** Progress goes to stderr: stdout belongs to the product (an address, a report in JSON). */
export const say = (text) => process.stderr.write(`${text}\n`)

/** Runs a command's main function; a SetupError becomes its text and exit code. */
export async function runCommand(main) {
  try {
    process.exitCode = await main()
  } catch (error) {
    if (!(error instanceof SetupError)) throw error
    if (error.output) say(error.output.trimEnd())
    say(`taskdeck: ${error.message}`)
    process.exitCode = error.exitCode
  }
}

/** Where the user was when they called npm, which itself changes to the project: relative arguments start there. */
export const callerDir = () => process.env.INIT_CWD ?? process.cwd()

/** Kept between runs and outside node_modules, which `npm ci` wipes. */
export function cacheDir() {
  const chosen = process.env.TASKDECK_CACHE
  if (chosen) return resolve(callerDir(), chosen)
  const xdg = process.env.XDG_CACHE_HOME
  return join(xdg && isAbsolute(xdg) ? xdg : join(homedir(), '.cache'), 'taskdeck')
}

/** The locked packages; `npm ci` only when they are missing or not those of the lockfile. */
export async function ensureDependencies() {
  const lock = join(root, 'package-lock.json')
  const stamp = join(modules, '.taskdeck-installed')
  const wanted = `${process.platform}-${process.arch} ${sha256([readFileSync(lock)])}`
  if (readOr(stamp) === wanted) return
  // Installed by hand: npm writes its own copy of the lockfile last, so a newer one means that all of it is there.
  const npmsCopy = join(modules, '.package-lock.json')
  const installedByHand = !existsSync(stamp) && existsSync(npmsCopy) && mtime(npmsCopy) >= mtime(lock)
  if (!installedByHand) {
    say('Installing packages (npm ci): half a minute, or some on a slow machine or network ...')
    const [command, ...args] = npmCommand()
    // the build tools are development packages, whatever NODE_ENV says
    const flags = ['ci', '--include=dev', '--include=optional', '--loglevel=error', '--no-progress']
    const { code, output } = await run(command, [...args, ...flags], { deadlineMs: 15 * 60_000 })
    if (code !== 0)
      throw new SetupError('npm ci failed (see above). The first start needs the network; later ones do not.', {
        output
      })
  }
  writeFileSync(stamp, wanted)
}

/** `npm`, as the one that runs us when there is one: it may not be on PATH. */
export function npmCommand() {
  const cli = process.env.npm_execpath
  if (cli && /npm-cli\.c?js$/.test(cli)) return [process.execPath, cli]
  if (process.platform !== 'win32') return ['npm']
  return [process.execPath, join(dirname(process.execPath), 'node_modules/npm/bin/npm-cli.js')]
}

/** Node for tools and shells: at least 22.18, the first that runs .ts files and loads the SQLite addon. Call after ensureDependencies. */
export function toolNode() {
  if (isNewEnough(process.versions.node)) return process.execPath
  const platform = process.platform === 'win32' ? 'win' : process.platform
  const packaged = join(modules, `node-${platform}-${process.arch}`, 'bin', platform === 'win' ? 'node.exe' : 'node')
  const probe = existsSync(packaged) && spawnSync(packaged, ['--version'], { encoding: 'utf8', timeout: 20_000 })
  if (probe && probe.status === 0) return packaged
  throw new SetupError(
    `Node ${process.versions.node} is too old and there is no packaged Node for ${process.platform} ${process.arch} here: install Node 24 from https://nodejs.org and try again.`
  )
}

function isNewEnough(version) {
  const [major, minor] = version.split('.').map(Number)
  return major >= 24 || (major === 23 && minor >= 6) || (major === 22 && minor >= 18)
}

/** Environment in which `node` and the project's tools are found first. */
export function toolEnv(extra = {}) {
  const path = [dirname(toolNode()), join(modules, '.bin'), process.env.PATH ?? ''].join(delimiter)
  return { ...process.env, PATH: path, ...extra }
}

/** The script behind an installed command, to run with toolNode(): no shell and no .cmd files in between. */
export function toolScript(packageName, command = packageName) {
  const dir = join(modules, packageName)
  const { bin } = JSON.parse(readFileSync(join(dir, 'package.json'), 'utf8'))
  return join(dir, typeof bin === 'string' ? bin : bin[command])
}

/** Builds out/ when it is not the build of the present sources. */
export async function ensureBuild() {
  const stamp = join(root, 'out/.built-from')
  const wanted = buildInputs()
  if (readOr(stamp) === wanted) return
  say('Building ...')
  rmSync(stamp, { force: true })
  const { code, output } = await run(toolNode(), [toolScript('electron-vite'), 'build', '--logLevel', 'warn'], {
    env: toolEnv({ NODE_ENV: 'production' }),
    deadlineMs: 5 * 60_000
  })
  if (code !== 0) throw new SetupError('the build failed (see above).', { output })
  mkdirSync(dirname(stamp), { recursive: true })
  writeFileSync(stamp, wanted)
}

/** A hash of everything a build reads; contents, not times, because a checkout sets all times to now. */
function buildInputs() {
  const files = ['src-main', 'src-renderer', 'migrations'].flatMap((dir) => filesBelow(dir))
  const parts = [...files.filter((file) => !/\.test\.ts$/.test(file)), 'electron.vite.config.ts', 'package-lock.json']
  return sha256(parts.flatMap((file) => [file, readFileSync(join(root, file))]))
}

function filesBelow(dir) {
  if (!existsSync(join(root, dir))) return []
  return readdirSync(join(root, dir), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name).slice(root.length + 1))
    .sort()
}

function sha256(parts) {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part).update('\0')
  return hash.digest('hex')
}

const readOr = (file) => (existsSync(file) ? readFileSync(file, 'utf8') : undefined)
const mtime = (file) => statSync(file).mtimeMs

const isWindows = process.platform === 'win32'

/** Children get a group of their own, so that a Ctrl-C reaches them once (through us) and a deadline ends all of them. */
const ownGroup = { detached: !isWindows, windowsHide: true }

function signalGroup(child, signal) {
  if (child.pid === undefined) return
  try {
    if (isWindows) child.kill(signal)
    else process.kill(-child.pid, signal)
  } catch (error) {
    if (error.code !== 'ESRCH') throw error
  }
}

/** Steps that run now; an interrupt ends them before it ends us. */
const steps = new Set()
let supervised

function onSignal(signal) {
  if (supervised) return supervised(signal)
  const exit = () => process.exit(128 + constants.signals[signal])
  if (steps.size === 0) exit()
  for (const child of steps) signalGroup(child, 'SIGTERM')
  setTimeout(() => {
    for (const child of steps) signalGroup(child, 'SIGKILL')
    exit()
  }, 5000)
  void Promise.all([...steps].map((child) => new Promise((done) => child.once('close', done)))).then(exit)
}
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, onSignal)

const npmCheckMs = 500

/**
 * npm passes no SIGTERM on, and nothing of it when it is killed: its end is a signal to stop. Without npm, a command that outlives the one
 * that started it was most likely meant to (setsid in a script).
 */
export function stopWithNpm() {
  const isAlive = watchNpm()
  if (!isAlive) return
  const timer = setInterval(() => {
    if (isAlive()) return
    clearInterval(timer)
    say('taskdeck: npm has ended, so this stops too.')
    onSignal('SIGTERM')
  }, npmCheckMs)
  timer.unref()
}

/** Whether the npm that runs this command still does; undefined when none does. It starts scripts through a shell, which outlives it. */
function watchNpm() {
  const parent = process.ppid
  if (isWindows || process.env.npm_lifecycle_event === undefined || parent <= 1) return undefined
  const { name, parentPid } = readProcess(parent) ?? {}
  if (name === undefined || !/(^|[/-])(ba|da|k|z)?sh$/.test(name)) return () => process.ppid === parent
  if (parentPid <= 1) return undefined
  return () => process.ppid === parent && readProcess(parent)?.parentPid === parentPid
}

/** `{name, parentPid}` of a process; undefined when there is none, or the system does not say. */
function readProcess(pid) {
  if (process.platform === 'linux') {
    const stat = existsSync(`/proc/${pid}/stat`) && readFileSync(`/proc/${pid}/stat`, 'utf8')
    const [, name, parentPid] = /^\d+ \((.*)\) \S+ (\d+) /s.exec(stat || '') ?? []
    return name === undefined ? undefined : { name, parentPid: Number(parentPid) }
  }
  const { stdout } = spawnSync('ps', ['-o', 'ppid=,comm=', '-p', String(pid)], { encoding: 'utf8', timeout: 5_000 })
  const [, parentPid, name] = /^\s*(\d+)\s+(\S+)/.exec(stdout ?? '') ?? []
  return name === undefined ? undefined : { name, parentPid: Number(parentPid) }
}

/**
 * Runs a step to its end and returns `{code, output, leftBehind}`: stdout and stderr as one text, and whether it left processes
 * behind. A step that outlives its deadline is killed with all it started. With `show` the output is also passed on as it comes; with
 * `background` it only gets the processor time that nobody else wants.
 */
export function run(
  command,
  args,
  { env = process.env, deadlineMs, show = false, cwd = root, background = false } = {}
) {
  return new Promise((done) => {
    const child = spawn(command, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], ...ownGroup })
    steps.add(child)
    if (background && child.pid !== undefined) yieldToOthers(child.pid)
    const chunks = []
    const keep = (chunk) => {
      chunks.push(chunk)
      if (show) process.stderr.write(chunk)
    }
    child.stdout?.on('data', keep)
    child.stderr?.on('data', keep)
    const timer = setTimeout(() => {
      keep(Buffer.from(`\n${basename(command)}: killed, not ended after ${Math.round(deadlineMs / 1000)} s\n`))
      signalGroup(child, 'SIGKILL')
    }, deadlineMs)
    let ended = false
    const finish = async (code) => {
      if (ended) return
      ended = true
      clearTimeout(timer)
      const leftBehind = await endGroup(child)
      if (leftBehind) keep(Buffer.from(`\n${basename(command)}: ended, but left processes running (killed)\n`))
      steps.delete(child)
      done({ code, output: Buffer.concat(chunks).toString(), leftBehind })
    }
    child.once('error', (error) => {
      keep(Buffer.from(`${error.message}\n`))
      void finish(127)
    })
    child.once('close', (code) => void finish(code ?? 1))
    // what is left behind may keep the pipes open for ever
    child.once('exit', (code) => setTimeout(() => void finish(code ?? 1), 1000).unref())
  })
}

/** Before it has started others, which inherit it. Where it may not, or has ended already, the step is only not as polite. */
function yieldToOthers(pid) {
  try {
    setPriority(pid, constants.priority.PRIORITY_LOW)
    // A Linux that schedules sessions as groups weighs the priority of the group alone: sched(7), autogroup.
    if (existsSync(`/proc/${pid}/autogroup`)) writeFileSync(`/proc/${pid}/autogroup`, '19')
  } catch {
    // Systems refuse it in many ways: no such process, no right, a read-only /proc, too often in a while.
  }
}

/** Whether something in the group of an ended step still runs after 3 s; it is killed. */
async function endGroup(child) {
  if (isWindows || child.pid === undefined) return false
  for (const deadline = Date.now() + 3000; Date.now() < deadline; await delay(50)) {
    if (!isGroupAlive(child.pid)) return false
  }
  signalGroup(child, 'SIGKILL')
  return true
}

function isGroupAlive(pid) {
  try {
    process.kill(-pid, 0)
    return true
  } catch (error) {
    return error.code === 'EPERM'
  }
}

/** How long a shell or worker may take to hand its tasks back and end after a signal. */
const stopDeadlineMs = 60_000

/**
 * Hands the terminal to the product and returns its exit code. A signal is passed on once; a second one, at least a second
 * later (npm repeats the first), or the deadline ends the process at once.
 */
export function supervise(command, args, { env = process.env, cwd = root } = {}) {
  // With setpriv (Linux) the process is also asked to stop when this one is killed outright.
  const setpriv = process.platform === 'linux' && ['/usr/bin/setpriv', '/bin/setpriv'].find((file) => existsSync(file))
  const line = setpriv ? [setpriv, '--pdeathsig', 'TERM', command, ...args] : [command, ...args]
  return new Promise((done, failed) => {
    const child = spawn(line[0], line.slice(1), { cwd, env, stdio: 'inherit', ...ownGroup, windowsHide: false })
    let firstSignalAt
    supervised = (signal) => {
      if (firstSignalAt !== undefined) {
        if (Date.now() - firstSignalAt > 1000) signalGroup(child, 'SIGKILL')
        return
      }
      firstSignalAt = Date.now()
      if (!isWindows) child.kill(signal === 'SIGHUP' ? 'SIGTERM' : signal) // a Windows console signals all by itself
      setTimeout(() => {
        say(`taskdeck: not ended ${stopDeadlineMs / 1000} s after ${signal}; killed.`)
        signalGroup(child, 'SIGKILL')
      }, stopDeadlineMs).unref()
    }
    child.once('error', (error) => failed(new SetupError(`cannot run ${command}: ${error.message}`)))
    child.once('exit', (code, signal) => {
      supervised = undefined
      done(code ?? 128 + constants.signals[signal])
    })
  })
}
