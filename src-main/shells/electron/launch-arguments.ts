import { resolve } from 'node:path'

export interface LaunchArguments {
  /** null is the platform's folder for application data. */
  readonly data: string | null
  readonly demo: boolean
  /** Of the metrics, 0 chooses a free one; null: none, also for what is no port. */
  readonly metricsPort: number | null
}

/**
 * Our arguments among Chromium's. A command line is untrusted (a file manager or a link may have made it): exactly these are read, and what
 * they mean is a folder, a yes or no, and a port of the loopback address.
 */
export function parseLaunchArguments(args: readonly string[]): LaunchArguments {
  const data = valueOf(args, '--data')
  const port = valueOf(args, '--metrics-port') ?? ''
  const metricsPort = /^\d{1,5}$/.test(port) && Number(port) <= 65_535 ? Number(port) : null
  return { data: data ? resolve(data) : null, demo: args.includes('--demo'), metricsPort }
}

function valueOf(args: readonly string[], name: string): string | undefined {
  const joined = args.find((arg) => arg.startsWith(`${name}=`))
  if (joined) return joined.slice(name.length + 1)
  const at = args.indexOf(name)
  const next = at < 0 ? undefined : args[at + 1]
  return next?.startsWith('-') ? undefined : next
}
