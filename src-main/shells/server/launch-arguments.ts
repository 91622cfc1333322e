import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { AppError } from '../../kernel/index.ts'

export interface LaunchArguments {
  /** 0 chooses a free one. */
  readonly port: number
  /** null is the platform's folder for application data. */
  readonly data: string | null
  readonly demo: boolean
}

export const usage = 'usage: server.js [--port N] [--data DIR] [--demo]'

/** Throws INVALID_INPUT with a message that names the argument. */
export function parseLaunchArguments(args: readonly string[]): LaunchArguments {
  const { port, data, demo } = parse(args)
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535)
    throw invalid(`--port takes a number from 0 to 65535, not "${port}"`)
  if (data === '') throw invalid('--data takes the path of a folder')
  return { port: Number(port), data: data === undefined ? null : resolve(data), demo }
}

function parse(args: readonly string[]): { port: string; data: string | undefined; demo: boolean } {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        port: { type: 'string', default: '0' },
        data: { type: 'string' },
        demo: { type: 'boolean', default: false }
      }
    })
    return { port: values.port, data: values.data, demo: values.demo }
  } catch (error) {
    throw invalid(error instanceof Error ? error.message : String(error))
  }
}

const invalid = (reason: string): AppError => new AppError('INVALID_INPUT', 'user', `${reason}\n${usage}`)
