/* What the checks need from the operating system: looked for by what it provides, installed by Debian's package names. */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { SetupError, run, say } from './setup.mjs'

/** Per group: [what must be there, the package that has it]. A name with ".so" is a shared library, others are programs. */
const groups = {
  mariadb: [
    ['mariadbd', 'mariadb-server-core'],
    ['mariadb-install-db', 'mariadb-server-core'],
    ['mariadb', 'mariadb-client-core']
  ],
  /** Processes with another clock, for fault runs; `faketime` starts them, we only load its library. */
  clocks: [['faketime', 'faketime']],
  compiler: [
    ['g++', 'build-essential'],
    ['make', 'build-essential'],
    ['python3', 'python3']
  ],
  browsers: [
    ['xvfb-run', 'xvfb'],
    ['Xvfb', 'xvfb'],
    ['xauth', 'xauth'],
    ['chromium-headless-shell', 'chromium-headless-shell'],
    ['libgtk-3.so.0', 'libgtk-3-0'],
    ['libnss3.so', 'libnss3'],
    ['libasound.so.2', 'libasound2'],
    ['libgbm.so.1', 'libgbm1'],
    ['libatk-bridge-2.0.so.0', 'libatk-bridge2.0-0'],
    ['libcups.so.2', 'libcups2'],
    ['libXss.so.1', 'libxss1'],
    ['libdrm.so.2', 'libdrm2']
  ]
}

const aptCommand = ['install', '-y', '--no-install-recommends']

/** Debian's packages that the named groups still need. Throws at once, with what to do, where they cannot be installed from here: only root on Debian can. */
export function neededPackages(names) {
  const missing = process.platform === 'linux' ? findMissing(names) : []
  const packages = [...new Set(missing.map(([, name]) => name))]
  if (packages.length === 0) return []
  if (!isProgram('apt-get'))
    throw new SetupError(`missing here: ${missing.map(([what]) => what).join(', ')}. Install them and try again.`)
  if (process.getuid() !== 0)
    throw new SetupError(
      `system packages are missing. Install them and try again:\n  sudo apt-get update && sudo apt-get ${[...aptCommand, ...packages].join(' ')}`
    )
  return packages
}

/** Installs what the named groups still need. */
export async function ensureSystemPackages(names, packages = neededPackages(names)) {
  if (packages.length === 0) return
  say(`Installing system packages: ${packages.join(' ')} ...`)
  await aptInstall([...aptCommand, ...packages])
  const still = findMissing(names)
  if (still.length > 0) throw new SetupError(`still missing after apt-get: ${still.map(([what]) => what).join(', ')}.`)
}

async function aptInstall(install) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  const lock = ['-q', '-o', 'DPkg::Lock::Timeout=120'] // another installation may be running
  let output = ''
  for (let attempt = 1; attempt <= 3; attempt++) {
    if (attempt > 1) await delay(5000 * attempt)
    const update = await run('apt-get', [...lock, 'update'], { env, deadlineMs: 3 * 60_000 })
    const done = await run('apt-get', [...lock, ...install], { env, deadlineMs: 10 * 60_000 })
    if (done.code === 0) return
    output = update.output + done.output
  }
  throw new SetupError('apt-get failed three times (see above).', { output })
}

function findMissing(names) {
  const libraries = sharedLibraries()
  const isThere = (what) => (what.includes('.so') ? libraries.has(what) : isProgram(what))
  return names.flatMap((name) => groups[name]).filter(([what]) => !isThere(what))
}

function isProgram(name) {
  const dirs = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/usr/bin', '/sbin', '/bin']
  return dirs.some((dir) => dir && existsSync(join(dir, name)))
}

function sharedLibraries() {
  const ldconfig = ['/sbin/ldconfig', '/usr/sbin/ldconfig'].find((file) => existsSync(file))
  if (!ldconfig) return new Set()
  const { stdout } = spawnSync(ldconfig, ['-p'], { encoding: 'utf8', timeout: 30_000 })
  return new Set(stdout.split('\n').map((line) => line.trim().split(' ')[0]))
}
