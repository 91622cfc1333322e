import { join } from 'node:path'
import { openAudit, type Audit } from '../audit/index.ts'
import { ConnectionStore, Secrets } from '../connections/index.ts'
import { openHistory, type History } from '../history/index.ts'
import type { AppError, StopStack } from '../kernel/index.ts'
import type { AppOptions } from './app-options.ts'
import type { Notices } from './notices.ts'
import { SettingsFile } from './settings-file.ts'

/** What the app keeps between two runs, but for the queue's own file and the alerts'. */
export interface AppFiles {
  readonly history: History
  readonly audit: Audit
  readonly stored: ConnectionStore
  readonly secrets: Secrets
  readonly settings: SettingsFile
}

/** Opens each; one that cannot be used becomes a notice. */
export async function openFiles(options: AppOptions, notices: Notices, running: StopStack): Promise<AppFiles> {
  const { dataDir, clock } = options
  const migrationsDir = join(options.migrationsDir, 'cache')
  const onNotice = (notice: AppError): void => notices.add(notice)
  const { history, notice: historyNotice } = openHistory({
    ...{ clock, migrationsDir, onNotice },
    file: join(dataDir, 'history.sqlite')
  })
  running.add(() => history.close())
  const { audit, notice: auditNotice } = openAudit({ clock, migrationsDir, file: join(dataDir, 'audit.sqlite') })
  running.add(() => audit.close())
  const stored = await ConnectionStore.open(dataDir, clock)
  const secrets = await Secrets.open(dataDir, { vault: options.vault, clock })
  const settings = await SettingsFile.open(join(dataDir, 'settings.json'), clock)
  running.add(() => settings.close())
  const problems = [historyNotice, auditNotice, stored.problem, secrets.problem, settings.problem]
  for (const problem of problems) if (problem) notices.add(problem)
  return { history, audit, stored, secrets, settings }
}
