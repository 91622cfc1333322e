import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { createInterface } from 'node:readline'
import { builtFile, builtRoot, newDataDir, shellEnvironment } from './build.ts'

export interface LaunchOptions {
  readonly demo?: boolean
  /** Kept afterwards; otherwise a fresh one is made, and removed by `stop`. */
  readonly dataDir?: string
  readonly env?: Record<string, string>
}

/** The server shell as a process of its own, from `out/main/server.js`. */
export interface ServerShell {
  readonly kind: 'server'
  readonly process: ChildProcess
  readonly port: number
  /** `http://127.0.0.1:PORT` */
  readonly origin: string
  /** The address as it was printed, with the one-time token. */
  readonly address: string
  readonly token: string
  readonly dataDir: string
  /** Everything it wrote to stdout and stderr so far. */
  output(): string
  /** Exchanges the one-time token; once. */
  takeSession(): Promise<string>
  stop(): Promise<number | null>
}

const readyMs = 30_000

export async function launchServer(options: LaunchOptions = {}, args: readonly string[] = []): Promise<ServerShell> {
  const dataDir = options.dataDir ?? newDataDir()
  const child = spawn(
    process.execPath,
    [builtFile('out/main/server.js'), '--data', dataDir, ...(options.demo ? ['--demo'] : []), ...args],
    { cwd: builtRoot, env: shellEnvironment(options.env), stdio: ['ignore', 'pipe', 'pipe'] }
  )
  // A test that fails half-way must not leave a server behind.
  const kill = (): boolean => child.kill('SIGKILL')
  process.once('exit', kill)
  child.once('exit', () => process.off('exit', kill))
  let output = ''
  child.stdout.on('data', (chunk: Buffer) => (output += String(chunk)))
  child.stderr.on('data', (chunk: Buffer) => (output += String(chunk)))
  const address = await readyAddress(child, () => output).catch((error: unknown) => {
    kill()
    throw error
  })
  const { origin, port, hash } = new URL(address)
  const token = hash.replace('#token=', '')
  return {
    kind: 'server',
    process: child,
    port: Number(port),
    ...{ origin, address, token, dataDir },
    output: () => output,
    takeSession: () => exchange(origin, token),
    async stop() {
      if (child.exitCode === null && child.signalCode === null) {
        child.kill('SIGTERM')
        await once(child, 'exit')
      }
      if (options.dataDir === undefined) rmSync(dirname(dataDir), { recursive: true, force: true })
      return child.exitCode
    }
  }
}

async function readyAddress(child: ChildProcess, output: () => string): Promise<string> {
  if (!child.stdout) throw new Error('no stdout')
  const lines = createInterface({ input: child.stdout })
  const ready = new Promise<string>((resolve) => {
    lines.on('line', (line) => {
      const address = /^Taskdeck is ready: (\S+)$/.exec(line)?.[1]
      if (address) resolve(address)
    })
  })
  const ended = once(child, 'exit').then(() => Promise.reject(new Error(`the server ended: ${output()}`)))
  const late = new AbortController()
  const deadline = once(AbortSignal.any([AbortSignal.timeout(readyMs), late.signal]), 'abort').then(() => {
    throw new Error(`the server did not get ready: ${output()}`)
  })
  deadline.catch(() => undefined)
  ended.catch(() => undefined)
  try {
    return await Promise.race([ready, ended, deadline])
  } finally {
    late.abort()
  }
}

async function exchange(origin: string, token: string): Promise<string> {
  const response = await fetch(`${origin}/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin },
    body: JSON.stringify({ token })
  })
  const { session } = (await response.json()) as { session?: string }
  if (!session) throw new Error(`no session: ${response.status}`)
  return session
}
