import { homedir } from 'node:os'
import { dirname, isAbsolute, join } from 'node:path'

/** Where both shells keep their data when nobody says otherwise: the platform's place for application data. `scripts/start.mjs` names the same. */
export function defaultDataDirectory(environment: NodeJS.ProcessEnv, platform: NodeJS.Platform): string {
  if (platform === 'darwin') return join(homedir(), 'Library/Application Support/Taskdeck')
  if (platform === 'win32') return join(environment['LOCALAPPDATA'] ?? join(homedir(), 'AppData', 'Local'), 'Taskdeck')
  const xdg = environment['XDG_DATA_HOME']
  return join(xdg && isAbsolute(xdg) ? xdg : join(homedir(), '.local/share'), 'taskdeck')
}

/** Where a worker keeps its handlers' files: beside a queue that is a file, because there the app that shows that queue looks for them. */
export function defaultArtifactDirectory(queueFile: string | null): string {
  const folder = queueFile === null ? defaultDataDirectory(process.env, process.platform) : dirname(queueFile)
  return join(folder, 'artifacts')
}
