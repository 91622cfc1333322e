/* Reading and adapting the archive that provision-electron.mjs fetches: zip entries, fuses, the default app. */
import { readSync } from 'node:fs'
import { crc32, inflateRawSync } from 'node:zlib'

// ---- zip (only what this archive needs: stored and deflated entries, no zip64) ----
function readAt(fd, position, length) {
  const buffer = Buffer.alloc(length)
  let done = 0
  while (done < length) {
    const n = readSync(fd, buffer, done, length - done, position + done)
    if (n === 0) throw new Error('zip: unexpected end of file')
    done += n
  }
  return buffer
}

export function* zipEntries(fd, size) {
  const tail = readAt(fd, Math.max(0, size - 65557), Math.min(size, 65557))
  const eocd = tail.lastIndexOf(Buffer.from([0x50, 0x4b, 5, 6]))
  if (eocd < 0) throw new Error('zip: no end record')
  const directory = readAt(fd, tail.readUInt32LE(eocd + 16), tail.readUInt32LE(eocd + 12))
  for (let p = 0; p + 46 <= directory.length && directory.readUInt32LE(p) === 0x02014b50;) {
    const nameLength = directory.readUInt16LE(p + 28)
    yield {
      name: directory.toString('utf8', p + 46, p + 46 + nameLength),
      method: directory.readUInt16LE(p + 10),
      crc: directory.readUInt32LE(p + 16),
      packed: directory.readUInt32LE(p + 20),
      mode: (directory.readUInt32LE(p + 38) >>> 16) & 0o777,
      offset: directory.readUInt32LE(p + 42)
    }
    p += 46 + nameLength + directory.readUInt16LE(p + 30) + directory.readUInt16LE(p + 32)
  }
}

export function zipRead(fd, entry) {
  const local = readAt(fd, entry.offset, 30)
  const start = entry.offset + 30 + local.readUInt16LE(26) + local.readUInt16LE(28)
  const raw = readAt(fd, start, entry.packed)
  if (entry.method !== 0 && entry.method !== 8) throw new Error(`zip: method ${entry.method}: ${entry.name}`)
  const data = entry.method === 8 ? inflateRawSync(raw) : raw
  if (crc32(data) !== entry.crc) throw new Error(`zip: bad checksum: ${entry.name}`)
  return data
}

// ---- fuses: see https://www.electronjs.org/docs/latest/tutorial/fuses ----
const SENTINEL = 'dL7pKGdnNz796PbbjQWNKmHXBZaB9tsX'
const FUSES = [
  'RunAsNode', // 0: left as it is (on)
  'EnableCookieEncryption', // 1
  'EnableNodeOptionsEnvironmentVariable', // 2
  'EnableNodeCliInspectArguments', // 3: on, Playwright's _electron.launch needs --inspect
  'EnableEmbeddedAsarIntegrityValidation', // 4
  'OnlyLoadAppFromAsar', // 5
  'LoadBrowserProcessSpecificV8Snapshot', // 6: off, Cypress's own snapshot is left out
  'GrantFileProtocolExtraPrivileges' // 7
]
export function setFuses(binary, wanted) {
  const at = binary.indexOf(SENTINEL)
  if (at < 0 || binary.indexOf(SENTINEL, at + 1) >= 0) throw new Error('fuses: expected exactly one fuse wire')
  const wire = at + SENTINEL.length
  if (binary[wire] !== 1) throw new Error(`fuses: version ${binary[wire]}`)
  for (const [name, on] of Object.entries(wanted)) {
    const i = FUSES.indexOf(name)
    if (i < 0 || i >= binary[wire + 1]) throw new Error(`fuses: no fuse ${name}`)
    binary[wire + 2 + i] = on ? 0x31 : 0x30
  }
}

// ---- resources/default_app.asar: makes `electron <path>` work (also `-r module`, `--app=`, `--version`) ----
// It must be ES module code with a top-level await: Electron emits `ready` only after that, so that an app can
// still do what has to come before `ready`. electron-builder removes default_app.asar from what it packs.
export const DEFAULT_APP = {
  'package.json': JSON.stringify({ name: 'electron', productName: 'Electron', main: 'main.js', type: 'module' }),
  'main.js': `
import { app } from 'electron'
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

const require = createRequire(join(process.cwd(), 'noop.js'))
const Module = require('node:module')
const args = process.argv.slice(1)
const preload = []
let file = ''
for (let i = 0; i < args.length; i++) {
  const arg = args[i]
  if (arg === '-r' || arg === '--require') preload.push(args[++i])
  else if (arg === '-v' || arg === '--version') {
    console.log('v' + process.versions.electron)
    process.exit(0)
  } else if (arg.startsWith('--app=')) { file = arg.slice(6); break }
  else if (!arg.startsWith('-')) { file = arg; break }
}
if (preload.length) Module._preloadModules(preload)
if (!file) {
  console.error('usage: electron [-r module] PATH [arguments]')
  process.exit(2)
}
Object.defineProperty(process, 'defaultApp', { configurable: false, enumerable: true, value: true })
try {
  const path = resolve(file)
  const manifest = join(path, 'package.json')
  let appPath
  if (existsSync(manifest)) {
    const pkg = JSON.parse(readFileSync(manifest, 'utf8'))
    if (pkg.version) app.setVersion(pkg.version)
    app.name = pkg.productName || pkg.name || app.name
    app.setDesktopName(pkg.desktopName || app.name + '.desktop')
    appPath = path
  }
  const entry = Module._resolveFilename(path, null, true)
  app.setAppPath(appPath || dirname(entry))
  await import(pathToFileURL(entry).href)
} catch (error) {
  console.error(error)
  process.exit(1)
}
`
}
export function asar(files) {
  const header = { files: {} }
  const bodies = []
  let offset = 0
  for (const [name, text] of Object.entries(files)) {
    const body = Buffer.from(text)
    header.files[name] = { size: body.length, offset: String(offset) }
    bodies.push(body)
    offset += body.length
  }
  const json = Buffer.from(JSON.stringify(header))
  const padded = Math.ceil(json.length / 4) * 4
  const head = Buffer.alloc(16 + padded)
  head.writeUInt32LE(4, 0)
  head.writeUInt32LE(8 + padded, 4)
  head.writeUInt32LE(4 + padded, 8)
  head.writeUInt32LE(json.length, 12)
  json.copy(head, 16)
  return Buffer.concat([head, ...bodies])
}
