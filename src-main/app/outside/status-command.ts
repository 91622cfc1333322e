import { readFile, stat } from 'node:fs/promises'
import { withDeadline, AppError, toAppError, type Clock } from '../../kernel/index.ts'
import { parseProfile, type TableProfile } from '../../schema-profiles/index.ts'
import type { DatabasePlaces } from '../links/open-queue.ts'
import { askApp } from './ask-app.ts'
import { lookByItself, type LookOptions } from './look-by-itself.ts'
import { parseStatusArguments, statusUsage, type StatusArguments } from './status-arguments.ts'
import { statusPlace } from './status-place.ts'
import type { StatusReport } from './status-report.ts'
import { textOf } from './status-text.ts'

/** For scripts. What cannot be told is no "all well"; a warning is no failure: nobody is told of what no rule fires for. */
export const statusExitCodes = { well: 0, warning: 0, trouble: 1, unknown: 2 } as const

export interface StatusCommand {
  readonly args: readonly string[]
  readonly env: NodeJS.ProcessEnv
  readonly cwd: string
  readonly platform: NodeJS.Platform
  readonly clock: Clock
  readonly places: DatabasePlaces
  readonly version: string
}

export interface StatusOutcome {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
}

/** The whole command but for its process; never throws. */
export async function runStatus(command: StatusCommand): Promise<StatusOutcome> {
  const asJson = command.args.includes('--json')
  try {
    const given = parseStatusArguments(command.args, command)
    if (given.help) return { exitCode: 0, stdout: statusUsage, stderr: '' }
    const late = (): AppError =>
      new AppError('CONNECT_TIMEOUT', 'operational', `No answer within ${given.timeoutMs / 1_000} s (--timeout).`)
    const report = await withDeadline(command.clock, given.timeoutMs, reportFor(given, command), late)
    const stdout = asJson ? `${JSON.stringify(report)}\n` : textOf(report)
    return { exitCode: statusExitCodes[report.verdict], stdout, stderr: '' }
  } catch (error) {
    return refusalOf(toAppError(error), asJson)
  }
}

async function reportFor(given: StatusArguments, command: StatusCommand): Promise<StatusReport> {
  try {
    return await lookFor(given, command)
  } catch (error) {
    throw error instanceof AppError && error.code === 'NOT_FOUND' ? notFoundIn(given.dataDir, error) : error
  }
}

/** Whoever started the app with a folder of its own may have forgotten it here. */
const notFoundIn = (dataDir: string, cause: AppError): AppError =>
  new AppError('NOT_FOUND', 'user', `${cause.message} This is the data folder ${dataDir}; --data DIR names another.`, {
    cause
  })

async function lookFor({ target, profile, dataDir }: StatusArguments, command: StatusCommand): Promise<StatusReport> {
  const { clock, platform, env, places, version } = command
  const options: LookOptions = {
    dataDir,
    places,
    version,
    password: env['TASKDECK_PASSWORD'],
    profile: await readProfile(profile)
  }
  if (target.kind !== 'connection' || profile !== null) return lookByItself(target, options)
  const place = statusPlace(dataDir, platform)
  const report = place === null ? undefined : await askApp(place, target.name, clock)
  return report ?? lookByItself(target, options)
}

async function readProfile(file: string | null): Promise<TableProfile | null> {
  if (file === null) return null
  const unreadable = (cause?: unknown): never => {
    const message = `The profile ${file} cannot be read: is this the right file (--profile)?`
    throw new AppError('FILE_UNAVAILABLE', 'user', message, { cause })
  }
  // Reading a pipe would wait for ever for somebody to write into it.
  const found = await stat(file).catch(unreadable)
  if (!found.isFile()) return unreadable()
  const text = await readFile(file, 'utf8').catch(unreadable)
  return parseProfile(text, file)
}

/** A bug's text is for whoever mends it; nothing else is known of what it may hold. */
function refusalOf({ code, kind, message, stack }: AppError, asJson: boolean): StatusOutcome {
  const said = kind === 'bug' ? `bug: ${stack ?? message}` : message
  const stdout = asJson ? `${JSON.stringify({ format: 1, verdict: 'unknown', error: { code, message } })}\n` : ''
  return { exitCode: statusExitCodes.unknown, stdout, stderr: `${said}\n` }
}
