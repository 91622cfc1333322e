import { resolve } from 'node:path'

export interface LaunchArguments {
  /** null is the platform's folder for application data. */
  readonly data: string | null
  readonly demo: boolean
}

/**
 * Our arguments among Chromium's. A command line is untrusted (a file manager or a link may have made it): exactly these are read, and what
 * they mean is a folder and a yes or no.
 */
export function parseLaunchArguments(args: readonly string[]): LaunchArguments {
  const data = valueOf(args, '--data')
  return { data: data ? resolve(data) : null, demo: args.includes('--demo') }
}

function valueOf(args: readonly string[], name: string): string | undefined {
  const joined = args.find((arg) => arg.startsWith(`${name}=`))
  if (joined) return joined.slice(name.length + 1)
  const at = args.indexOf(name)
  const next = at < 0 ? undefined : args[at + 1]
  return next?.startsWith('-') ? undefined : next
}
