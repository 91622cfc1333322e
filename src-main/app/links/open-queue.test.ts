import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { systemClock } from '../../kernel/index.ts'
import { openLocalQueue } from './open-queue.ts'

it('does not wait for a pipe in place of the local queue', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'taskdeck-local-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'queue.sqlite')
  execFileSync('mkfifo', [file])
  const places = { clock: systemClock, migrationsDir: join(import.meta.dirname, '../../../migrations') }
  await expect(openLocalQueue(file, places)).rejects.toMatchObject({
    code: 'FILE_UNAVAILABLE',
    details: { path: file }
  })
})
