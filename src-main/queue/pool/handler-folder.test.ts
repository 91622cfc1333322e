import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { isHandlerFile, readHandlerFolder } from './handler-folder.ts'

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'taskdeck-handlers-'))
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

it.each(['a.ts', 'a.js', 'send-mail.mts', 'b.cjs'])('takes %s for a handler file', (name) =>
  expect(isHandlerFile(name)).toBe(true)
)
it.each(['a.d.ts', 'a.test.ts', '_draft.ts', '.hidden.js', 'notes.md', 'data.json'])('leaves %s alone', (name) =>
  expect(isHandlerFile(name)).toBe(false)
)

it('lists the files of the folder itself and notices changes below it', async () => {
  mkdirSync(join(dir, 'shared'))
  mkdirSync(join(dir, 'node_modules'))
  writeFileSync(join(dir, 'b.ts'), '')
  writeFileSync(join(dir, 'a.js'), '')
  writeFileSync(join(dir, 'shared', 'lib.ts'), '1')
  const first = await readHandlerFolder(dir)
  expect(first.files).toEqual([join(dir, 'a.js'), join(dir, 'b.ts')])
  writeFileSync(join(dir, 'node_modules', 'x.js'), 'new')
  expect((await readHandlerFolder(dir)).signature).toBe(first.signature)
  writeFileSync(join(dir, 'shared', 'lib.ts'), '1 + 1')
  expect((await readHandlerFolder(dir)).signature).not.toBe(first.signature)
})

it.skipIf(process.platform === 'win32')(
  'tells devices and links to folders from files: reading them may never end',
  async () => {
    writeFileSync(join(dir, 'a.js'), '')
    symlinkSync('/dev/zero', join(dir, 'endless.js'))
    symlinkSync(dir, join(dir, 'folder.js'))
    symlinkSync(join(dir, 'a.js'), join(dir, 'linked.js'))
    symlinkSync('/nowhere', join(dir, 'lost.js')) // the loader says what is wrong with it
    const { files, irregular } = await readHandlerFolder(dir)
    expect(files).toEqual(['a.js', 'linked.js', 'lost.js'].map((name) => join(dir, name)))
    expect(irregular).toEqual(['endless.js', 'folder.js'].map((name) => join(dir, name)))
  }
)
