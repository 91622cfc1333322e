import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'

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
  [['--metrics-port', '9465x'], '--metrics-port is a number from 0 (any free port) to 65535, not "9465x".'],
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

/*
 * npm's part is played by a process that starts the command as npm does, through a shell and with npm's environment, and the product's by one
 * that says when it was asked to stop.
 */
describe.runIf(process.platform === 'linux')('when npm alone is ended', () => {
  const setup = pathToFileURL(join(root, 'scripts/setup.mjs')).href
  const product = `process.on('SIGTERM', () => { console.log('stopped'); process.exit() }); setInterval(() => console.log('runs'), 200)`
  const command = `import { runCommand, stopWithNpm, supervise } from ${JSON.stringify(setup)}
    await runCommand(() => (stopWithNpm(), supervise(process.execPath, ['-e', ${JSON.stringify(product)}])))`

  /** `shell` and `env` are how the command is started; `says` resolves when it has printed `text` so many times since `npm` was killed. */
  async function killParent(shell: boolean, env: NodeJS.ProcessEnv) {
    const folder = mkdtempSync(join(tmpdir(), 'taskdeck-npm-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    writeFileSync(join(folder, 'command.mjs'), command)
    writeFileSync(
      join(folder, 'npm.cjs'),
      `const { spawn } = require('node:child_process')
      const line = JSON.stringify(process.execPath) + ' command.mjs; exit $?'
      const child = ${shell} ? spawn('sh', ['-c', line], { stdio: 'inherit' }) : spawn(process.execPath, ['command.mjs'], { stdio: 'inherit' })
      console.log('child ' + child.pid)`
    )
    const npm = spawn(process.execPath, ['npm.cjs'], { cwd: folder, env: { PATH: process.env['PATH'], ...env } })
    let output = ''
    let changed = (): void => undefined
    npm.stdout.on('data', (chunk: Buffer) => ((output += chunk.toString()), changed()))
    const says = async (text: string, times = 1): Promise<void> => {
      while (output.split(text).length <= times) await new Promise<void>((resolve) => (changed = resolve))
    }
    await says('runs')
    const pid = Number(/child (\d+)/.exec(output)?.[1])
    npm.kill('SIGKILL')
    await once(npm, 'exit')
    output = ''
    return { says, pid, ended: once(npm, 'close') } // the pipes end with the last process
  }

  it.each([
    ['a shell, as npm starts it', true],
    ['nothing in between', false]
  ])('the command stops its child cleanly (%s)', async (_how, shell) => {
    const { says, ended } = await killParent(shell, { npm_lifecycle_event: 'start' })
    await says('stopped')
    await ended
  })

  it('a command that was started without npm goes on', async () => {
    const { says, pid, ended } = await killParent(false, {})
    await says('runs', 8) // longer than three looks of the watch
    process.kill(pid, 'SIGTERM')
    await says('stopped')
    await ended
  })
})
