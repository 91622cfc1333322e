/* The Electron that tests, benches and pictures run on. */
import { buildSqliteForOldNode } from './build-sqlite-electron33.mjs'
import { provisionElectron } from './provision-electron.mjs'

let found

/** The environment in which they find it: the one given, or a provisioned one. The first call may take a minute and needs the network. */
export function electronForTests() {
  found ??= (async () => {
    if (process.env.ELECTRON_OVERRIDE_DIST_PATH) return {}
    const dist = await provisionElectron()
    return { ELECTRON_OVERRIDE_DIST_PATH: dist, SQLITE_NATIVE_BINDING: await buildSqliteForOldNode() }
  })()
  return found
}
