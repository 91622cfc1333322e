import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Settings } from '../contract/index.ts'
import { systemClock } from '../kernel/index.ts'
import { SettingsFile } from './settings-file.ts'

let folder: string
let file: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'taskdeck-settings-'))
  file = join(folder, 'settings.json')
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))
const open = (): Promise<SettingsFile> => SettingsFile.open(file, systemClock)
const chosen = { theme: 'dark', language: 'zh-CN', sensitiveKeys: ['salary'] } satisfies Settings
const defaults = { theme: 'system', language: 'system', sensitiveKeys: [] }

describe('settings', () => {
  it('are kept across runs; of two saves at once the later one holds', async () => {
    const first = await open()
    expect([first.get(), first.problem]).toEqual([defaults, null])
    await Promise.all([first.save({ ...chosen, theme: 'light' }), first.save(chosen)])
    expect((await open()).get()).toEqual(chosen)
  })

  it('that were chosen just before the end are kept', async () => {
    const first = await open()
    void first.save(chosen)
    await first.close()
    expect((await open()).get()).toEqual(chosen)
  })

  it('of an older version lack names to hide, and keep the rest', async () => {
    writeFileSync(file, '{"theme":"dark","language":"en"}')
    const settings = await open()
    expect([settings.get(), settings.problem]).toEqual([{ theme: 'dark', language: 'en', sensitiveKeys: [] }, null])
  })

  it('hide by the names that are chosen now, and what is left out of a change stays', async () => {
    const settings = await open()
    const shown = (): string => settings.masking.json('{"salary":1}').text + settings.masking.text(' salary=1')
    expect(shown()).toBe('{"salary":1} salary=1')
    await settings.save({ sensitiveKeys: ['Salary'] })
    await settings.save({ theme: 'light' })
    expect(shown()).toBe('{"salary":"••••"} salary=••••')
    expect((await open()).masking.text('salary=1')).toBe('salary=••••')
    await settings.save({ sensitiveKeys: [] })
    expect(shown()).toBe('{"salary":1} salary=1')
  })

  it.each([
    ['a pipe', () => execFileSync('mkfifo', [file])],
    ['a folder', () => mkdirSync(file)],
    ['far too large', () => (writeFileSync(file, ''), truncateSync(file, 2 ** 33))]
  ])('that are %s are neither waited for nor written over, and it is said', async (_what, make) => {
    make()
    const settings = await open()
    expect(settings.get()).toEqual(defaults)
    expect(settings.problem).toMatchObject({ code: 'FILE_UNAVAILABLE', details: { file } })
    await expect(settings.save(chosen)).rejects.toMatchObject({ code: 'FILE_UNAVAILABLE' })
    expect(settings.get()).toEqual(chosen)
    expect(readdirSync(folder)).toEqual(['settings.json'])
  })

  it('that are damaged are set aside, and new ones begun', async () => {
    writeFileSync(file, '{"theme":')
    const settings = await open()
    expect(settings.problem).toMatchObject({ code: 'FILE_UNAVAILABLE' })
    await settings.save(chosen)
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(chosen)
    expect(readdirSync(folder)).toHaveLength(2)
  })

  it('are written although a pipe stands where the draft goes', async () => {
    execFileSync('mkfifo', [`${file}.draft`])
    await (await open()).save(chosen)
    expect((await open()).get()).toEqual(chosen)
  })
})
