import { AppError } from '../../kernel/index.ts'
import type { SchemaInstaller } from '../../queue/task-store.ts'

export interface SchemaWish {
  /** Make or update the tables when they are not those of this Taskdeck. */
  readonly migrate: boolean
  /** What to do about missing or old tables, the end of the message: `start once with --migrate`. */
  readonly advice: string
}

/** Resolves with whether it changed the tables. Throws SCHEMA_MISSING, SCHEMA_OUTDATED or SCHEMA_NEWER, and what the installer throws. */
export async function requireSchema(installer: SchemaInstaller, { migrate, advice }: SchemaWish): Promise<boolean> {
  const schema = await installer.status()
  if (schema.status === 'ready') return false
  if (schema.status === 'newer') {
    const message = `The tables are of a newer Taskdeck (version ${schema.version}; this one knows ${schema.latest}): use that version.`
    throw new AppError('SCHEMA_NEWER', 'user', message)
  }
  if (migrate) {
    await installer.migrate()
    return true
  }
  const missing = schema.status === 'missing'
  const message = missing ? 'There are no Taskdeck tables in this database' : 'The tables are of an older Taskdeck'
  throw new AppError(missing ? 'SCHEMA_MISSING' : 'SCHEMA_OUTDATED', 'user', `${message}: ${advice}.`)
}
