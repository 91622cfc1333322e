import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'

/** Where both shells keep their data when nobody says otherwise: the platform's place for application data. `scripts/start.mjs` names the same. */
export function defaultDataDirectory(environment: NodeJS.ProcessEnv, platform: NodeJS.Platform): string {
  if (platform === 'darwin') return join(homedir(), 'Library/Application Support/Taskdeck')
  if (platform === 'win32') return join(environment['LOCALAPPDATA'] ?? join(homedir(), 'AppData', 'Local'), 'Taskdeck')
  const xdg = environment['XDG_DATA_HOME']
  return join(xdg && isAbsolute(xdg) ? xdg : join(homedir(), '.local/share'), 'taskdeck')
}
