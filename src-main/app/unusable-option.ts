import { AppError } from '../kernel/index.ts'

/** What `parseArgs` did not take. An argument that is not an option may be a misplaced address: only the names of options are repeated. */
export function unusableOption(error: unknown): AppError {
  const unknown = /'(-[^' =]*)/.exec(error instanceof Error ? error.message : '')?.[1]
  const message =
    unknown === undefined ? 'Every argument must be an option.' : `The option ${unknown} is not usable so.`
  return new AppError('INVALID_INPUT', 'user', message)
}
