import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { readWindowState } from './window-state.ts'

const folder = mkdtempSync(join(tmpdir(), 'taskdeck-window-'))
const file = join(folder, 'window.json')
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const display = { x: 0, y: 0, width: 1920, height: 1080 }
const state = { x: 10, y: 20, width: 1200, height: 800, maximized: false }

describe('window state', () => {
  it('is restored where a display still shows it', () => {
    writeFileSync(file, JSON.stringify(state))
    expect(readWindowState(file, [display])).toEqual(state)
  })

  it('is forgotten when its display is gone', () => {
    writeFileSync(file, JSON.stringify({ ...state, x: 3000 }))
    expect(readWindowState(file, [display])).toBeUndefined()
  })

  it.each(['', 'null', '{"x":1}', JSON.stringify({ ...state, width: 1e9 })])('is not read from %j', (text) => {
    writeFileSync(file, text)
    expect(readWindowState(file, [display])).toBeUndefined()
  })

  it('is unknown, and nothing waits, when a pipe stands in its place', () => {
    rmSync(file)
    execFileSync('mkfifo', [file])
    expect(readWindowState(file, [display])).toBeUndefined()
  })

  it('is unknown without a file', () => {
    expect(readWindowState(join(folder, 'none.json'), [display])).toBeUndefined()
  })
})
