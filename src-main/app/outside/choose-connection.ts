import { AppError } from '../../kernel/index.ts'

export interface Named {
  readonly id: string
  readonly name: string
}

/**
 * The one that is meant: by its name, or by its id, which also tells two of one name apart. null means the only one. Throws NOT_FOUND
 * or INVALID_INPUT with the names that there are.
 */
export function chooseConnection<T extends Named>(all: readonly T[], wanted: string | null): T {
  const names = all.map(({ name }) => `"${name}"`).join(', ')
  if (wanted === null) {
    const [only] = all
    if (only && all.length === 1) return only
    throw new AppError('INVALID_INPUT', 'user', `Which connection? Give --connection NAME, one of ${names}.`)
  }
  const byName = all.filter(({ name }) => name === wanted)
  const found = byName.length > 0 ? byName : all.filter(({ id }) => id === wanted)
  const [chosen] = found
  if (chosen && found.length === 1) return chosen
  if (!chosen) throw new AppError('NOT_FOUND', 'user', `There is no connection "${wanted}". There are: ${names}.`)
  const ids = found.map(({ id }) => id).join(', ')
  throw new AppError(
    'INVALID_INPUT',
    'user',
    `"${wanted}" is the name of ${found.length} connections: give the id of one, ${ids}.`
  )
}
