/*
 * Builds better-sqlite3 once more, for runtimes before Node 22 (the test runtime Electron 33 is Node 20.18, N-API 9).
 * better-sqlite3 13 keeps references to strings, which N-API 9 refuses: built with -DNAPI_VERSION=9 it compiles and aborts
 * on load. Node 20 has that behaviour as NAPI_EXPERIMENTAL. The installed package stays as it is; the result is a file for
 * SQLITE_NATIVE_BINDING. Takes about 30 s, once.
 */
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { SetupError, cacheDir, root, run, say, toolEnv, toolNode } from './setup.mjs'

const REVISION = 1 // raise when the flags change
const modules = join(root, 'node_modules')

/** The path of the built addon. Needs g++ with C++20, make and python3 when it is not in the cache. */
export async function buildSqliteForOldNode() {
  const { version } = JSON.parse(readFileSync(join(modules, 'better-sqlite3/package.json'), 'utf8'))
  const name = `better_sqlite3-${version}-experimental-r${REVISION}-${process.platform}-${process.arch}.node`
  const target = join(cacheDir(), name)
  if (existsSync(target)) return target
  say('Building SQLite for the test runtime, about half a minute ...')
  const work = mkdtempSync(join(tmpdir(), 'taskdeck-sqlite-')) // make cannot build below a path with spaces
  try {
    const built = await build(work)
    mkdirSync(cacheDir(), { recursive: true })
    const own = `${target}.${process.pid}`
    cpSync(built, own)
    renameSync(own, target)
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
  return target
}

async function build(work) {
  const source = join(work, 'node_modules/better-sqlite3')
  const sources = (path) => !/[/\\]better-sqlite3[/\\](prebuilds|build)$/.test(path)
  cpSync(join(modules, 'better-sqlite3'), source, { recursive: true, filter: sources })
  cpSync(join(modules, 'node-addon-api'), join(work, 'node_modules/node-addon-api'), { recursive: true })
  cpSync(nodeHeaders(), join(work, 'node/include'), { recursive: true })
  const args = ['rebuild', '--release', '--force_build=1', `--nodedir=${join(work, 'node')}`, '--jobs=max']
  const { code, output } = await run(toolNode(), [nodeGyp(), ...args], {
    cwd: source,
    deadlineMs: 5 * 60_000,
    env: toolEnv({
      // gyp puts these after its own options, so they win over -DNAPI_VERSION=10 and -O3
      CXXFLAGS: '-UNAPI_VERSION -DNAPI_EXPERIMENTAL -DNODE_API_EXPERIMENTAL_NO_WARNING',
      CFLAGS: '-O1'
    })
  })
  if (code !== 0) throw new SetupError('building better-sqlite3 for the test runtime failed (see above).', { output })
  return join(source, 'build/Release/better_sqlite3.node')
}

/** Those of the packaged Node, so that nothing is downloaded; any from 20.12 on will do. */
function nodeHeaders() {
  const packaged = join(modules, `node-${process.platform}-${process.arch}`, 'include')
  const found = [packaged, '/usr/include', '/usr/local/include'].find((dir) => existsSync(join(dir, 'node/node_api.h')))
  if (!found) throw new SetupError('no Node headers (node_api.h) to build better-sqlite3 with.')
  return found
}

/** The one inside npm: node-gyp is no dependency of ours. */
function nodeGyp() {
  const beside = (npmDir) => join(npmDir, 'node_modules/node-gyp/bin/node-gyp.js')
  const npmDirs = [process.env.npm_execpath && join(dirname(process.env.npm_execpath), '..')]
  npmDirs.push(join(dirname(process.execPath), '../lib/node_modules/npm'), '/usr/lib/node_modules/npm')
  npmDirs.push('/usr/local/lib/node_modules/npm')
  const candidates = [process.env.npm_config_node_gyp, ...npmDirs.filter(Boolean).map(beside)]
  candidates.push('/usr/share/nodejs/node-gyp/bin/node-gyp.js') // Debian's own npm
  const found = candidates.filter(Boolean).find((file) => existsSync(file))
  if (!found) throw new SetupError('npm has no node-gyp here: run this through npm (npm test).')
  return found
}
