import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { readErrorClasses } from './error-classes-file.ts'

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'taskdeck-rules-'))
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

const write = (text: string): void => writeFileSync(join(dir, 'error-classes.json'), text)

it('reads the rules, and none without a file', async () => {
  expect(await readErrorClasses(dir)).toEqual([])
  write('{ "rules": [{ "when": { "code": "E_BUSY", "status": "5xx" }, "class": "resource" }] }')
  expect(await readErrorClasses(dir)).toEqual([{ when: { code: ['E_BUSY'], status: ['5xx'] }, class: 'resource' }])
})

it.each([
  ['{ "rules": [', /JSON/],
  ['[]', /expected object/],
  ['{ "rules": [{ "when": { "kode": "X" }, "class": "final" }] }', /kode/],
  [' '.repeat(70_000), /70000 bytes; the limit is 65536/]
])('says what is wrong with %j', async (text, message) => {
  write(text)
  await expect(readErrorClasses(dir)).rejects.toThrow(message)
  await expect(readErrorClasses(dir)).rejects.toMatchObject({ code: 'HANDLER_LOAD_FAILED', kind: 'user' })
})

it('does not read what is no regular file', async () => {
  mkdirSync(join(dir, 'error-classes.json'))
  await expect(readErrorClasses(dir)).rejects.toThrow(/no regular file/)
})
