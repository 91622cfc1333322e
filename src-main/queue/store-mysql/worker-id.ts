import { AppError } from '../../kernel/index.ts'

/** What the column holds: printable ASCII, 100 characters. Throws INVALID_INPUT, or the server would with a number. */
export function checkWorkerId(id: string): void {
  if (!/^[\x21-\x7e]{1,100}$/.test(id))
    throw new AppError('INVALID_INPUT', 'user', 'A worker id has 1 to 100 letters, digits or signs, and no spaces.')
}
