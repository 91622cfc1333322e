import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { parseMysqlUrl, type MysqlLogin } from '../connections/index.ts'
import { AppError, requireSensitiveKeys } from '../kernel/index.ts'
import { sqlitePathOf } from './sqlite-address.ts'
import { unusableOption } from './unusable-option.ts'

export const workerUsage = `Usage: npm run worker -- [options]
Runs Taskdeck's handlers on the tasks of one queue. Start as many as you like, on as many machines.

  --connection URL    mysql://user:password@host:port/database or sqlite:PATH; ?tls= disabled (the default), required or
                      verify-identity. Better in the environment
                      as TASKDECK_CONNECTION: other users of this machine can read command lines.
  --handlers DIR      a folder with your own handlers (see docs/handlers.md)
  --concurrency N     tasks at once, 1 to 1000 (default 4)
  --lease-ms N        how long a task stays with a worker that gives no sign (default 30000)
  --poll-ms N         longest pause between looks at an idle queue (default 500)
  --recover-ms N      pause between rounds that end what dead workers left (default 60000)
  --grace-ms N        time to stop in: running tasks are handed back at its end (default 20000)
  --artifacts DIR     where files of handlers are kept (default: beside a sqlite: file, else the app's data folder)
  --metrics-port N    Prometheus metrics at http://127.0.0.1:N/metrics (0: any free port; see docs/metrics.md)
  --sensitive NAMES   also hide the values of fields with these names in log lines and errors, separated by commas
  --id NAME           this worker's name, unique among all (default: host, process and a random part)
  --migrate           make or update the tables first
  --json              one JSON object a line on stderr
  --help
`

export interface WorkerArguments {
  readonly help: boolean
  /** A server's login, or a file; undefined only with `help`. */
  readonly connection: { kind: 'mysql'; login: MysqlLogin } | { kind: 'sqlite'; file: string } | undefined
  readonly handlersDir: string | null
  readonly concurrency: number
  readonly leaseMs: number
  readonly pollMs: number
  readonly recoverMs: number
  readonly graceMs: number
  readonly artifactDir: string | undefined
  /** null: no metrics. */
  readonly metricsPort: number | null
  /** Added to the built-in names. */
  readonly sensitiveKeys: readonly string[]
  readonly id: string | undefined
  readonly migrate: boolean
  readonly json: boolean
}

type NumberOption = 'concurrency' | 'lease-ms' | 'poll-ms' | 'recover-ms' | 'grace-ms' | 'metrics-port'

/** Throws INVALID_INPUT with a message for the user; it never repeats the connection. */
export function parseWorkerArguments(args: readonly string[], env: NodeJS.ProcessEnv, cwd: string): WorkerArguments {
  const values = parse(args)
  const connection = values.connection ?? env['TASKDECK_CONNECTION']
  const number = (name: NumberOption, limits: Limits): number => wholeNumber(`--${name}`, values[name], limits)
  return {
    help: values.help ?? false,
    connection: values.help ? undefined : parseConnection(connection, cwd),
    handlersDir: values.handlers === undefined ? null : existingFolder(resolve(cwd, values.handlers)),
    concurrency: number('concurrency', { least: 1, most: 1_000, otherwise: 4 }),
    leaseMs: number('lease-ms', { least: 200, most: 3_600_000, otherwise: 30_000 }),
    pollMs: number('poll-ms', { least: 1, most: 600_000, otherwise: 500 }),
    recoverMs: number('recover-ms', { least: 100, most: 3_600_000, otherwise: 60_000 }),
    graceMs: number('grace-ms', { least: 0, most: 3_600_000, otherwise: 20_000 }),
    artifactDir: values.artifacts === undefined ? undefined : resolve(cwd, values.artifacts),
    metricsPort:
      values['metrics-port'] === undefined ? null : number('metrics-port', { least: 0, most: 65_535, otherwise: 0 }),
    sensitiveKeys:
      values.sensitive === undefined ? [] : requireSensitiveKeys(values.sensitive.split(/[,，]/), '--sensitive'),
    id: values.id === undefined ? undefined : workerName(values.id),
    migrate: values.migrate ?? false,
    json: values.json ?? false
  }
}

/** Which queue it is, for people: never the password. */
export function queueName(connection: NonNullable<WorkerArguments['connection']>): string {
  if (connection.kind === 'sqlite') return connection.file
  const { user, host, port, database } = connection.login
  return `${database} on ${host.includes(':') ? `[${host}]` : host}:${port} as ${user}`
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        connection: { type: 'string' },
        handlers: { type: 'string' },
        concurrency: { type: 'string' },
        'lease-ms': { type: 'string' },
        'poll-ms': { type: 'string' },
        'recover-ms': { type: 'string' },
        'grace-ms': { type: 'string' },
        artifacts: { type: 'string' },
        'metrics-port': { type: 'string' },
        sensitive: { type: 'string' },
        id: { type: 'string' },
        migrate: { type: 'boolean' },
        json: { type: 'boolean' },
        help: { type: 'boolean' }
      }
    }).values
  } catch (error) {
    throw unusableOption(error)
  }
}

function parseConnection(text: string | undefined, cwd: string): WorkerArguments['connection'] {
  if (text === undefined || text === '') {
    throw invalid(
      'Name the queue: set TASKDECK_CONNECTION, or give --connection, to mysql://... or sqlite:PATH. All options: npm run worker -- --help'
    )
  }
  if (text.startsWith('sqlite:')) {
    const path = sqlitePathOf(text)
    if (path === undefined) throw invalid('sqlite: must be followed by the path of the file.')
    return { kind: 'sqlite', file: resolve(cwd, path) }
  }
  if (!text.startsWith('mysql:')) throw invalid('The connection must start with mysql:// or sqlite:')
  return { kind: 'mysql', login: parseMysqlUrl(text) }
}

interface Limits {
  readonly least: number
  readonly most: number
  readonly otherwise: number
}

function wholeNumber(name: string, text: string | undefined, { least, most, otherwise }: Limits): number {
  if (text === undefined) return otherwise
  const value = /^\d{1,10}$/.test(text) ? Number(text) : NaN
  if (value >= least && value <= most) return value
  throw invalid(`${name} must be a whole number from ${least} to ${most}.`)
}

function existingFolder(path: string): string {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return path
  throw invalid(`${path} is not a folder: give --handlers the folder with your handler files.`)
}

function workerName(text: string): string {
  if (/^[A-Za-z0-9._-]{1,100}$/.test(text)) return text
  throw invalid('--id may have 1 to 100 letters, digits and . _ -')
}

const invalid = (message: string): AppError => new AppError('INVALID_INPUT', 'user', message)
