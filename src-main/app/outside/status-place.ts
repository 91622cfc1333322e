import { createHash } from 'node:crypto'
import { join, resolve } from 'node:path'

/** Of a socket's path, with its end: macOS has room for 104 bytes, Linux for 108. A longer one would be cut, and lie elsewhere. */
const longestPath = 103

/**
 * Where a running app answers for its data folder: a socket in the folder, or a named pipe on Windows. null where the folder's path is
 * too long for a socket.
 */
export function statusPlace(dataDir: string, platform: NodeJS.Platform): string | null {
  if (platform === 'win32') {
    const name = createHash('sha256').update(resolve(dataDir).toLowerCase()).digest('hex').slice(0, 32)
    return String.raw`\\.\pipe\taskdeck-${name}`
  }
  const path = join(resolve(dataDir), 'status.sock')
  return Buffer.byteLength(path) <= longestPath ? path : null
}
