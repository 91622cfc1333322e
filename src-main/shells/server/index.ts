import { existsSync, readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { dirname, join } from 'node:path'
import { createApp, defaultDataDirectory } from '../../app/index.ts'
import { AppError, StopStack, systemClock, toAppError, withDeadline } from '../../kernel/index.ts'
import { startHttpServer, type HttpServer, type HttpServerOptions } from './http-server.ts'
import { parseLaunchArguments, type LaunchArguments } from './launch-arguments.ts'
import { Sessions } from './sessions.ts'

/*
 * The server shell: the app behind a web server on this machine's loopback address, for machines without a display.
 * stdout carries the address and nothing else; everything else goes to stderr and the log file.
 */

/** The build puts this file into `out/main`; tests run it where it is written. */
const projectRoot = rootAbove(import.meta.dirname)
/** Running tasks get their grace inside it. */
const stopDeadlineMs = 15_000
const exitCodes = { ok: 0, failed: 1, usage: 2 } as const

const running = new StopStack()
let stopping = false
let exitCode: number = exitCodes.ok
/** What is half open cannot be closed: a stop waits for it. */
let opening: Promise<void> = Promise.resolve()
let stopped: Promise<boolean> | undefined

// SIGHUP: the terminal was closed.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void stopOnSignal())

void main()

async function main(): Promise<void> {
  try {
    opening = start(parseLaunchArguments(process.argv.slice(2)))
    await opening
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
    metricsPort: args.metricsPort,
    validateOutputs: process.env['TASKDECK_VALIDATE_OUTPUTS'] === '1'
  })
  running.add(() => app.stop())
  if (stopping) return
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
  if (stopping) return
  if (app.metricsUrl) process.stderr.write(`Metrics: ${app.metricsUrl}\n`)
  announce(server, sessions)
  announceAgainOnEnter(server, sessions)
}

function rootAbove(folder: string): string {
  return existsSync(join(folder, 'package.json')) ? folder : rootAbove(dirname(folder))
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
  await end()
}

/** A signal may come while a start that failed is being cleared up: both end with the same stop, and the failure's code. */
async function end(): Promise<void> {
  stopped ??= stopAll()
  if (!(await stopped) && exitCode === exitCodes.ok) exitCode = exitCodes.failed
  process.exit(exitCode)
}

async function stopAll(): Promise<boolean> {
  const stop = async (): Promise<void> => {
    await opening.catch(() => undefined) // `main` tells why
    await running.stop()
  }
  try {
    await withDeadline(systemClock, stopDeadlineMs, stop(), () => new Error('stopping took too long'))
    return true
  } catch (error) {
    process.stderr.write(`Taskdeck did not stop cleanly: ${toAppError(error).message}\n`)
    return false
  }
}

async function fail(error: unknown): Promise<void> {
  const known = toAppError(error)
  process.stderr.write(`${known.message}\n`)
  exitCode = known.code === 'INVALID_INPUT' ? exitCodes.usage : exitCodes.failed
  await end()
}
