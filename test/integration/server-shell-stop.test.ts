import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { newDataDir } from './app-under-test.ts'

const shell = join(import.meta.dirname, '../../src-main/shells/server/index.ts')

/** The server shell as a process of its own, from its source. */
function launch() {
  const dataDir = newDataDir()
  const child = spawn(process.execPath, [shell, '--data', dataDir], { stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += String(chunk)))
  const ended = once(child, 'close')
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await ended
    rmSync(dirname(dataDir), { recursive: true, force: true })
  })
  return {
    child,
    ended,
    lock: join(dataDir, 'lock.json'),
    log: join(dataDir, 'logs/taskdeck.log'),
    output: () => output
  }
}

/** Looks as often as the event loop turns: what is waited for lasts a tenth of a second. */
async function until(isSo: () => boolean, { child, output }: ReturnType<typeof launch>): Promise<void> {
  while (!isSo()) {
    if (child.exitCode !== null) throw new Error(`the server ended: ${output()}`)
    await setImmediate()
  }
}

it.each(['SIGINT', 'SIGTERM'] as const)(
  '%s while the server opens its files waits for them, and closes them',
  async (signal) => {
    const server = launch()
    await until(() => existsSync(server.lock), server)
    server.child.kill(signal)
    expect(await server.ended).toEqual([0, null])
    expect(server.output()).not.toContain('did not stop cleanly')
    expect(existsSync(server.lock)).toBe(false)
    expect(readFileSync(server.log, 'utf8')).toContain('Taskdeck stops')
  }
)

it.each(['SIGHUP'] as const)('%s ends a server that runs, and leaves no lock', async (signal) => {
  const server = launch()
  await until(() => server.output().includes('Taskdeck is ready'), server)
  server.child.kill(signal)
  expect(await server.ended).toEqual([0, null])
  expect(existsSync(server.lock)).toBe(false)
})
