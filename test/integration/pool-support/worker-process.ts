import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

const entry = join(import.meta.dirname, '../../../src-main/app/worker-process.ts')

export interface WorkerProcess {
  readonly child: ChildProcess
  /** Everything on stderr and stdout so far. */
  output(): string
  /** Resolves when the output matches; rejects when the process ends first. */
  untilSays(pattern: RegExp): Promise<void>
  /** The exit code; null after a signal. */
  readonly ended: Promise<number | null>
}

/** The real worker process, as `npm run worker` starts it. Killed after the test when it still runs. */
export function startWorkerProcess(connection: string | undefined, ...args: string[]): WorkerProcess {
  const environment = Object.entries(process.env).filter(([name]) => !name.startsWith('TASKDECK_'))
  const env = Object.fromEntries([...environment, ['TASKDECK_CONNECTION', connection]].filter(([, value]) => value))
  const child = spawn(process.execPath, [entry, ...args], { env: env as NodeJS.ProcessEnv })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data: Buffer) => (output += data.toString()))
  const ended = once(child, 'close').then(([code]) => code as number | null)
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await ended
  })
  return {
    child,
    ended,
    output: () => output,
    async untilSays(pattern) {
      while (!pattern.test(output)) {
        const over = await Promise.race([ended.then(() => true), once(child.stderr, 'data').then(() => false)])
        if (over && !pattern.test(output)) throw new Error(`ended without saying ${String(pattern)}:\n${output}`)
      }
    }
  }
}
