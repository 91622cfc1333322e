import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { claimStatements } from './claim-statements.ts'

const migration = readFileSync(join(import.meta.dirname, '../../../migrations/mysql/0001_queue.sql'), 'utf8')

it.each(claimStatements({ type: 't', priority: 5, batch: 10 }))(
  '$name has a value for each mark, and its index as the migration makes it',
  (one) => {
    expect(one.values).toHaveLength(one.sql.split('?').length - 1)
    expect(one.sql).toContain(`FORCE INDEX (${one.index.name})`)
    expect(migration).toContain(`KEY ${one.index.name} (${one.index.columns})`)
  }
)
