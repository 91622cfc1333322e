import { readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join, resolve } from 'node:path'
import { createApp, defaultDataDirectory } from '../../app/index.ts'
import { AppError, StopStack, systemClock, toAppError, withDeadline } from '../../kernel/index.ts'
import { startHttpServer, type HttpServer, type HttpServerOptions } from './http-server.ts'
import { parseLaunchArguments, type LaunchArguments } from './launch-arguments.ts'
import { Sessions } from './sessions.ts'

/*
 * The server shell: the app behind a web server on this machine's loopback address, for machines without a display.
 * stdout carries the address and nothing else; everything else goes to stderr and the log file.
 */

/** The build puts this file into `out/main`. */
const projectRoot = resolve(import.meta.dirname, '../..')
/** Running tasks get their grace inside it. */
const stopDeadlineMs = 15_000
const exitCodes = { ok: 0, failed: 1, usage: 2 } as const

const running = new StopStack()
let stopping = false

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => void stopOnSignal())

void main()

async function main(): Promise<void> {
  try {
    await start(parseLaunchArguments(process.argv.slice(2)))
  } catch (error) {
    await fail(error)
  }
}

async function start(args: LaunchArguments): Promise<void> {
  const app = await createApp({
    dataDir: args.data ?? defaultDataDirectory(process.env, process.platform),
    shell: 'server',
    version: readVersion(),
    clock: systemClock,
    vault: null,
    hostName: hostname(),
    resourcesDir: join(projectRoot, 'resources'),
    migrationsDir: join(projectRoot, 'migrations'),
    demo: args.demo,
    validateOutputs: process.env['TASKDECK_VALIDATE_OUTPUTS'] === '1'
  })
  running.add(() => app.stop())
  // A promise that nobody awaited is a bug of ours; it must not end the tasks that run here.
  process.on('unhandledRejection', (error) => app.log.bug(error))
  const sessions = new Sessions(systemClock)
  const server = await listen({
    port: args.port,
    root: join(projectRoot, 'out/renderer'),
    sessions,
    servePage: app.servePage
  })
  running.add(() => server.close())
  if (stopping) return void (await running.stop())
  announce(server, sessions)
  announceAgainOnEnter(server, sessions)
}

function readVersion(): string {
  const manifest = JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8')) as { version: string }
  return manifest.version
}

async function listen(options: HttpServerOptions): Promise<HttpServer> {
  try {
    return await startHttpServer(options)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    const reason =
      code === 'EADDRINUSE'
        ? `Port ${options.port} is in use: choose another one with --port, or leave it out for a free one.`
        : `Port ${options.port} cannot be opened (${code ?? 'unknown error'}): choose another one with --port.`
    throw new AppError('INVALID_INPUT', 'user', reason, { cause: error })
  }
}

/** The only line that carries a token; it works once. */
function announce(server: HttpServer, sessions: Sessions): void {
  process.stdout.write(`Taskdeck is ready: http://127.0.0.1:${server.port}/#token=${sessions.issueToken()}\n`)
}

/** For a second browser, or after the address was used: only who sits at the terminal gets a new one. */
function announceAgainOnEnter(server: HttpServer, sessions: Sessions): void {
  if (!process.stdin.isTTY) return
  process.stdin.on('data', () => announce(server, sessions))
  process.stdin.unref()
}

async function stopOnSignal(): Promise<void> {
  if (stopping) process.exit(exitCodes.failed) // a second Ctrl-C means now
  stopping = true
  process.exit((await stopAll()) ? exitCodes.ok : exitCodes.failed)
}

async function stopAll(): Promise<boolean> {
  try {
    await withDeadline(systemClock, stopDeadlineMs, running.stop(), () => new Error('stopping took too long'))
    return true
  } catch (error) {
    process.stderr.write(`Taskdeck did not stop cleanly: ${toAppError(error).message}\n`)
    return false
  }
}

async function fail(error: unknown): Promise<void> {
  const known = toAppError(error)
  process.stderr.write(`${known.message}\n`)
  await stopAll()
  process.exit(known.code === 'INVALID_INPUT' ? exitCodes.usage : exitCodes.failed)
}
