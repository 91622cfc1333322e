import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, it } from 'vitest'

const root = join(import.meta.dirname, '../..')

function start(...args: string[]) {
  const env = { ...process.env }
  delete env['DISPLAY']
  delete env['WAYLAND_DISPLAY']
  const script = join(root, 'scripts/start.mjs')
  return spawnSync(process.execPath, [script, ...args], { cwd: root, env, encoding: 'utf8', timeout: 30_000 })
}

it.each([
  [['--shell', 'browser'], '--shell is "electron" or "server", not "browser".'],
  [['--port', '65536'], '--port is a number from 0 (any free port) to 65535, not "65536".'],
  [['--port', 'http'], '--port is a number from 0 (any free port) to 65535, not "http".'],
  [['--shell', 'electron', '--port', '1'], '--port belongs to the server shell'],
  [['--data', ''], '--data needs a folder.'],
  [['--colour'], "Unknown option '--colour'"]
])('npm start refuses %j with exit code 2, its reason and the usage', (args, reason) => {
  const { status, stderr } = start(...args)
  expect(status).toBe(2)
  expect(stderr).toContain(reason)
  expect(stderr).toContain('Usage: npm start')
})

it.runIf(process.platform === 'linux')('npm start says what a window lacks on a machine without a display', () => {
  const { status, stderr } = start('--shell', 'electron')
  expect(status).toBe(1)
  expect(stderr).toContain('there is no display')
  expect(stderr).toContain('--shell server')
})
