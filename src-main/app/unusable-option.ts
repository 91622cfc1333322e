import { AppError } from '../kernel/index.ts'

/** What `parseArgs` did not take. An argument that is not an option may be a misplaced address: only the names of options are repeated. */
export function unusableOption(error: unknown): AppError {
  const unknown = /'(-[^' =]*)/.exec(error instanceof Error ? error.message : '')?.[1]
  return new AppError('INVALID_INPUT', 'user', messageOf(unknown, error))
}

function messageOf(option: string | undefined, error: unknown): string {
  if (option === undefined) return 'Every argument must be an option.'
  const isUnknown = error instanceof Error && 'code' in error && error.code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION'
  return isUnknown
    ? `There is no option ${option}; see --help.`
    : `The option ${option} lacks its value, or has one that it does not take; see --help.`
}
