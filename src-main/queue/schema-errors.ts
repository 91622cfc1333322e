import { AppError } from '../kernel/index.ts'

/** `place` begins the sentence: `This database`, or a file. */
export const missingSchema = (place: string): AppError =>
  new AppError('SCHEMA_MISSING', 'user', `${place} has no task tables: create them first.`)

interface Versions {
  /** Of the tables. */
  readonly version: number
  /** That this Taskdeck knows. */
  readonly latest: number
}

export const newerSchema = ({ version, latest }: Versions): AppError =>
  new AppError(
    'SCHEMA_NEWER',
    'user',
    `The tables were made by a newer Taskdeck (version ${version}, this one knows ${latest}): update this one.`,
    { details: { version, latest } }
  )

export const outdatedSchema = ({ version, latest }: Versions): AppError =>
  new AppError('SCHEMA_OUTDATED', 'user', 'The tables are of an older Taskdeck: bring them up to date first.', {
    details: { version, latest }
  })
