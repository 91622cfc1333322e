/* Which Electron the desktop shell runs on: a given one, the installed one, or the installed package's download. */
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { buildSqliteForOldNode } from './build-sqlite-electron33.mjs'
import { SetupError, callerDir, root, run, say, toolEnv, toolNode } from './setup.mjs'

const electronPackage = join(root, 'node_modules/electron')
/** Written when a download failed, so that later starts are quick. */
const failureMark = join(root, 'node_modules/.taskdeck-electron-download-failed')
const failureHoldsMs = 60 * 60_000

/** Whether windows can be opened here. */
export function hasDisplay() {
  if (process.platform === 'win32' || process.platform === 'darwin') return true
  return Boolean(process.env.DISPLAY || process.env.WAYLAND_DISPLAY)
}

/**
 * `{binary, version, env}` of an Electron that runs here, or `{problem}`: one line that says why there is none. `insist`
 * tries a download again that failed a short while ago, and waits longer for it.
 */
export async function findElectron({ insist = false } = {}) {
  const given = process.env.ELECTRON_OVERRIDE_DIST_PATH
  const dist = given ? resolve(callerDir(), given) : join(electronPackage, 'dist')
  if (given && !existsSync(join(dist, binaryName())))
    return { problem: `ELECTRON_OVERRIDE_DIST_PATH has no Electron (${join(dist, binaryName())})` }
  if (!given && !isInstalled(dist)) {
    const problem = await download({ insist })
    if (problem) return { problem }
  }
  return describe(join(dist, binaryName()))
}

function binaryName() {
  if (process.platform === 'win32') return 'electron.exe'
  return process.platform === 'darwin' ? 'Electron.app/Contents/MacOS/Electron' : 'electron'
}

/** The package writes path.txt last: without it an unpacking was interrupted. */
function isInstalled(dist) {
  return existsSync(join(electronPackage, 'path.txt')) && existsSync(join(dist, binaryName()))
}

/** Since Electron 42 nothing is downloaded at install time; this is what a first `require('electron')` would do. */
async function download({ insist }) {
  if (!insist && existsSync(failureMark) && Date.now() - statSync(failureMark).mtimeMs < failureHoldsMs)
    return `${readFileSync(failureMark, 'utf8')} (tried less than an hour ago)`
  const deadlineMs = insist ? 20 * 60_000 : 3 * 60_000
  say('Downloading Electron (once, about 110 MB) ...')
  const { code, output } = await run(toolNode(), [join(electronPackage, 'install.js')], { env: toolEnv(), deadlineMs })
  rmSync(failureMark, { force: true })
  if (code === 0) return undefined
  const lines = output.split('\n').map((line) => line.trim())
  const reason =
    lines.find((line) => /killed, not ended|Error|ENOTFOUND|ECONN|failed/.test(line)) ?? `exit code ${code}`
  const problem = `Electron could not be downloaded: ${reason.replace(/^TypeError: /, '').slice(0, 200)}`
  writeFileSync(failureMark, problem)
  return problem
}

/** Runs the binary as Node: that needs no display, and fails for the same missing libraries as a window would. */
async function describe(binary) {
  const probe = spawnSync(binary, ['-p', 'JSON.stringify(process.versions)'], {
    env: { ...process.env, ELECTRON_RUN_AS_NODE: '1' },
    encoding: 'utf8',
    timeout: 60_000
  })
  if (probe.status !== 0) {
    const reason = (probe.stderr || probe.error?.message || `exit code ${probe.status}`).trim().split('\n')[0]
    return { problem: `Electron does not run here: ${reason}` }
  }
  const versions = JSON.parse(probe.stdout)
  try {
    return { binary, version: versions.electron, env: await sqliteEnv(versions.node) }
  } catch (error) {
    if (!(error instanceof SetupError)) throw error
    if (error.output) say(error.output.trimEnd())
    return { problem: `Electron ${versions.electron} is Node ${versions.node}: ${error.message}` }
  }
}

/** The SQLite addon comes ready for Node 22 and newer. */
async function sqliteEnv(nodeVersion) {
  if (process.env.SQLITE_NATIVE_BINDING || Number(nodeVersion.split('.')[0]) >= 22) return {}
  return { SQLITE_NATIVE_BINDING: await buildSqliteForOldNode() }
}
