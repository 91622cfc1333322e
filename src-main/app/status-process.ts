import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { systemClock } from '../kernel/index.ts'
import { runStatus, statusExitCodes } from './outside/status-command.ts'
import { printable } from './printable.ts'

/*
 * `npm run status -- ...`: how a queue is, for people and scripts; see docs/outside.md. Ends with 0, 1 or 2, whatever hangs.
 */

// Node's own code for an error that nobody caught is 1, which says that something is wrong with the queue.
for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
  process.on(event, (error: unknown) => {
    process.stderr.write(`bug: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`)
    process.exit(statusExitCodes.unknown)
  })
}

const projectRoot = join(import.meta.dirname, '../..')
const { version } = JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8')) as { version: string }

const { exitCode, stdout, stderr } = await runStatus({
  args: process.argv.slice(2),
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
