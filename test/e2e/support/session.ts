import { rmSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Page } from 'playwright-core'
import { newDataDir } from './build.ts'
import { patient } from './operator.ts'
import { openShell, type OpenShell, type ShellKind } from './shells.ts'

/** One app that scenarios use one after the other, as an operator does over a day: a start costs more than most of them. */
export interface Session {
  readonly kind: ShellKind
  readonly page: Page
  /** Of the start that goes on now. */
  readonly shell: OpenShell
  /** Ends the app and starts it again on the same data folder. */
  restart(): Promise<void>
  stop(): Promise<void>
}

export async function openSession(kind: ShellKind): Promise<Session> {
  const dataDir = newDataDir()
  const open = async (): Promise<OpenShell> => {
    const shell = await openShell(kind, { dataDir })
    patient(shell.page)
    return shell
  }
  let shell = await open()
  return {
    kind,
    get page() {
      return shell.page
    },
    get shell() {
      return shell
    },
    async restart() {
      await shell.stop()
      shell = await open()
    },
    async stop() {
      await shell.stop()
      rmSync(dirname(dataDir), { recursive: true, force: true })
    }
  }
}
