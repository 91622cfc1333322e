import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { parseMysqlUrl, type MysqlLogin } from '../../connections/index.ts'
import { AppError } from '../../kernel/index.ts'
import { defaultDataDirectory } from '../default-data-directory.ts'
import { sqlitePathOf } from '../sqlite-address.ts'
import { unusableOption } from '../unusable-option.ts'

export const statusUsage = `Usage: npm run status -- [options]      or, with the package: taskdeck status [options]
Says how a queue is, and ends with 0: all well, or a warning, 1: something is wrong, 2: cannot tell.

  --connection NAME   a connection of the app, by its name or id ("Local queue" is always there); may be left out when it is the only one
  --url URL           a queue that the app does not know: mysql://user:password@host:port/database or sqlite:PATH. Better in the
                      environment as TASKDECK_CONNECTION: other users of this machine can read command lines.
  --profile FILE      look at a table that is not Taskdeck's, in MySQL or MariaDB, as this profile describes it (docs/foreign-tables.md)
  --data DIR          the app's folder, as given to npm start --data: without it the app of the usual folder is meant
  --timeout SECONDS   1 to 120 (default 20)
  --json              one JSON object on stdout; a script runs npm run -s status, as npm writes lines of its own without -s
  --help

A running app is asked for what it sees. When none runs, and always with --profile, the command looks by itself, with the app's settings;
the password comes from the environment as TASKDECK_PASSWORD. It never changes anything.
`

export type StatusTarget =
  | { readonly kind: 'connection'; readonly name: string | null }
  | { readonly kind: 'mysql'; readonly login: MysqlLogin }
  | { readonly kind: 'sqlite'; readonly file: string }

export interface StatusArguments {
  readonly help: boolean
  readonly target: StatusTarget
  /** The file that describes a table which is not ours; null: our own tables. */
  readonly profile: string | null
  readonly dataDir: string
  readonly timeoutMs: number
  readonly json: boolean
}

interface Surroundings {
  readonly env: NodeJS.ProcessEnv
  readonly cwd: string
  readonly platform: NodeJS.Platform
}

/** Throws INVALID_INPUT with a message for the user; it repeats no address. */
export function parseStatusArguments(args: readonly string[], { env, cwd, platform }: Surroundings): StatusArguments {
  const values = parse(args)
  if (values.data === '') throw invalid('--data needs a folder.')
  if (values.profile === '') throw invalid('--profile needs a file.')
  const target = targetOf(values, env, cwd)
  if (values.profile !== undefined && target.kind === 'sqlite')
    throw invalid('--profile is for tables in MySQL or MariaDB, not for a sqlite: address.')
  return {
    help: values.help ?? false,
    target,
    profile: values.profile === undefined ? null : resolve(cwd, values.profile),
    dataDir: values.data === undefined ? defaultDataDirectory(env, platform) : resolve(cwd, values.data),
    timeoutMs: secondsOf(values.timeout) * 1_000,
    json: values.json ?? false
  }
}

type Values = ReturnType<typeof parse>

function targetOf({ connection, url, help }: Values, env: NodeJS.ProcessEnv, cwd: string): StatusTarget {
  if (help) return { kind: 'connection', name: null }
  if (connection !== undefined && url !== undefined) throw invalid('Give --connection or --url, not both.')
  if (connection === '') throw invalid('--connection needs a name.')
  if (connection !== undefined) return { kind: 'connection', name: connection }
  const address = url ?? env['TASKDECK_CONNECTION']
  if (address === undefined) return { kind: 'connection', name: null }
  const path = sqlitePathOf(address)
  if (path !== undefined) return { kind: 'sqlite', file: resolve(cwd, path) }
  if (!address.startsWith('mysql:')) throw invalid('The address must start with mysql:// or sqlite:')
  return { kind: 'mysql', login: parseMysqlUrl(address) }
}

function secondsOf(text = '20'): number {
  const seconds = /^\d{1,3}$/.test(text) ? Number(text) : NaN
  if (seconds >= 1 && seconds <= 120) return seconds
  throw invalid('--timeout must be a whole number from 1 to 120.')
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        connection: { type: 'string' },
        url: { type: 'string' },
        profile: { type: 'string' },
        data: { type: 'string' },
        timeout: { type: 'string' },
        json: { type: 'boolean' },
        help: { type: 'boolean' }
      }
    }).values
  } catch (error) {
    throw unusableOption(error)
  }
}

const invalid = (message: string): AppError => new AppError('INVALID_INPUT', 'user', message)
