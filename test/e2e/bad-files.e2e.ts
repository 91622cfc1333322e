import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newDataDir } from './support/build.ts'
import { enqueue, freshness, openTask, patient, seesState, startWorker } from './support/operator.ts'
import { openShell, type OpenShell } from './support/shells.ts'

const greeter = `import { defineHandler } from 'taskdeck'
import { z } from 'zod'

export default defineHandler({
  type: 'greet',
  description: 'Greets somebody',
  payload: z.object({ name: z.string() }),
  example: { name: 'Ada' },
  execute: (_context, { name }) => ({ greeting: 'Hello ' + name })
})
`
const broken = `export const handler: = 1\n`
const repaired = greeter.replaceAll('greet', 'praise')

// App and page are the same in both shells; Electron's runtime is the one that loads handlers in a way of its own.
describe('broken files', () => {
  const dataDir = newDataDir()
  const handlersDir = join(dirname(dataDir), 'my handlers')
  let shell: OpenShell
  let page: Page
  beforeAll(async () => {
    mkdirSync(dataDir, { recursive: true })
    writeFileSync(join(dataDir, 'history.sqlite'), 'this is no database, whatever its name says\n'.repeat(200))
    execFileSync('mkfifo', [join(dataDir, 'settings.json')])
    mkdirSync(handlersDir)
    writeFileSync(join(handlersDir, 'greet.ts'), greeter)
    writeFileSync(join(handlersDir, 'broken.ts'), broken)
    shell = await openShell('electron', { dataDir })
    page = patient(shell.page)
  })
  afterAll(async () => {
    await shell?.stop()
    rmSync(dirname(dataDir), { recursive: true, force: true })
  })

  it('a corrupt history is said, kept aside, and the app works', async () => {
    const notice = page.getByRole('alert').filter({ hasText: 'The history file was damaged and has been started anew' })
    await notice.getByText(/history\.sqlite\.damaged-/).waitFor()
    await freshness(page).filter({ hasText: /^live/ }).waitFor()
    expect(readdirSync(dataDir).filter((name) => name.startsWith('history.sqlite.damaged-'))).toHaveLength(1)
    await notice.getByRole('button', { name: 'Dismiss' }).click()
    await notice.waitFor({ state: 'detached' })
  })

  it('a pipe where the settings should be is not waited for, and it is said', async () => {
    const notice = page.getByRole('alert').filter({ hasText: 'settings.json cannot be used: it is not a regular file' })
    await notice.getByRole('button', { name: 'Dismiss' }).click()
    await notice.waitFor({ state: 'detached' })
  })

  it('a handler file that does not load is listed with its message, and the others work', async () => {
    await startWorker(page, handlersDir)
    const problem = page.getByRole('alert').filter({ hasText: 'A handler file could not be loaded' })
    await problem.getByText(/broken\.ts/).waitFor()
    await enqueue(page, { type: 'greet', title: 'Greets Ada' })
    const open = await openTask(page, 'Greets Ada')
    await seesState(page, 'Success')
    await open.getByText('Result', { exact: true }).click()
    await open.getByText('"Hello Ada"').waitFor()
  })

  it('a handler file is read again once it is saved', async () => {
    writeFileSync(join(handlersDir, 'broken.ts'), repaired)
    await enqueue(page, { type: 'praise', title: 'Praises Ada' })
    await page.getByRole('alert').waitFor({ state: 'detached' })
    await openTask(page, 'Praises Ada')
    await seesState(page, 'Success')
    expect(shell.problems).toEqual([])
  })
})
