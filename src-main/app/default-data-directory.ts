import { homedir } from 'node:os'
import { join } from 'node:path'

/** Where both shells keep their data when nobody says otherwise: the platform's place for application data. */
export function defaultDataDirectory(environment: NodeJS.ProcessEnv, platform: NodeJS.Platform): string {
  if (platform === 'win32') return join(environment['APPDATA'] ?? join(homedir(), 'AppData/Roaming'), 'Taskdeck')
  if (platform === 'darwin') return join(homedir(), 'Library/Application Support/Taskdeck')
  return join(environment['XDG_DATA_HOME'] || join(homedir(), '.local/share'), 'taskdeck')
}
