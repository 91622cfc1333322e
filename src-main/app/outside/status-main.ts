import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { systemClock } from '../../kernel/index.ts'
import { printable } from '../printable.ts'
import { runStatus, statusExitCodes } from './status-command.ts'

/**
 * The status command as this process: writes what there is to say and ends with 0, 1 or 2, whatever hangs. `projectRoot` is where
 * `package.json` and `migrations` are.
 */
export async function statusMain(args: readonly string[], projectRoot: string): Promise<void> {
  // Node's own code for an error that nobody caught is 1, which says that something is wrong with the queue.
  for (const event of ['uncaughtException', 'unhandledRejection'] as const) process.on(event, failWith)
  const { version } = JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8')) as { version: string }
  const { exitCode, stdout, stderr } = await runStatus({
    args,
    env: process.env,
    cwd: process.cwd(),
    platform: process.platform,
    clock: systemClock,
    places: { clock: systemClock, migrationsDir: join(projectRoot, 'migrations') },
    version
  })
  if (stderr !== '') process.stderr.write(`${printable(stderr.trimEnd())}\n`)
  // What is still open (a server that never answers) ends with the process, once the pipe has taken all.
  process.stdout.write(stdout, () => process.exit(exitCode))
}

function failWith(error: unknown): void {
  process.stderr.write(`bug: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`)
  process.exit(statusExitCodes.unknown)
}
