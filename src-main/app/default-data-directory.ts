import { createHash } from 'node:crypto'
import { homedir } from 'node:os'
import { dirname, isAbsolute, join } from 'node:path'
import type { MysqlLogin } from '../connections/index.ts'

/** Where both shells keep their data when nobody says otherwise: the platform's place for application data. `scripts/start.mjs` names the same. */
export function defaultDataDirectory(environment: NodeJS.ProcessEnv, platform: NodeJS.Platform): string {
  if (platform === 'darwin') return join(homedir(), 'Library/Application Support/Taskdeck')
  if (platform === 'win32') return join(environment['LOCALAPPDATA'] ?? join(homedir(), 'AppData', 'Local'), 'Taskdeck')
  const xdg = environment['XDG_DATA_HOME']
  return join(xdg && isAbsolute(xdg) ? xdg : join(homedir(), '.local/share'), 'taskdeck')
}

/** Where a worker keeps its handlers' files: beside a queue that is a file, because there the app that shows that queue looks for them. */
export function defaultArtifactDirectory(queue: { readonly file: string } | { readonly login: Address }): string {
  if ('file' in queue) return join(dirname(queue.file), 'artifacts')
  return artifactsOfServerQueue(join(defaultDataDirectory(process.env, process.platform), 'artifacts'), queue.login)
}

type Address = Pick<MysqlLogin, 'host' | 'port' | 'database'>

/** Task ids are a queue's own, so queues on servers have folders of their own below the machine's one. */
export function artifactsOfServerQueue(artifactDir: string, { host, port, database }: Address): string {
  const hash = createHash('sha256')
    .update(JSON.stringify([host, port, database]))
    .digest('hex')
    .slice(0, 12)
  return join(artifactDir, `${database.replace(/[^\w-]/g, '_').slice(0, 40)}-${hash}`)
}
