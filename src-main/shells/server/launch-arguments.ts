import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { AppError } from '../../kernel/index.ts'

export interface LaunchArguments {
  /** 0 chooses a free one. */
  readonly port: number
  /** null is the platform's folder for application data. */
  readonly data: string | null
  readonly demo: boolean
  /** Of the metrics, 0 chooses a free one; null: none. */
  readonly metricsPort: number | null
}

export const usage = 'usage: server.js [--port N] [--data DIR] [--demo] [--metrics-port N]'

/** Throws INVALID_INPUT with a message that names the argument. */
export function parseLaunchArguments(args: readonly string[]): LaunchArguments {
  const { port, data, demo, metricsPort } = parse(args)
  if (data === '') throw invalid('--data takes the path of a folder')
  return {
    port: portOf('--port', port),
    data: data === undefined ? null : resolve(data),
    demo,
    metricsPort: metricsPort === undefined ? null : portOf('--metrics-port', metricsPort)
  }
}

function portOf(name: string, text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text)
  throw invalid(`${name} takes a number from 0 to 65535, not "${text}"`)
}

interface Given {
  readonly port: string
  readonly data: string | undefined
  readonly demo: boolean
  readonly metricsPort: string | undefined
}

function parse(args: readonly string[]): Given {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        port: { type: 'string', default: '0' },
        data: { type: 'string' },
        demo: { type: 'boolean', default: false },
        'metrics-port': { type: 'string' }
      }
    })
    return { port: values.port, data: values.data, demo: values.demo, metricsPort: values['metrics-port'] }
  } catch (error) {
    throw invalid(error instanceof Error ? error.message : String(error))
  }
}

const invalid = (reason: string): AppError => new AppError('INVALID_INPUT', 'user', `${reason}\n${usage}`)
