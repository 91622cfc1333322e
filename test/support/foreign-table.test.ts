import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { parseProfile } from '../../src-main/schema-profiles/index.ts'
import { advisedIndexes, columnsOf, shippedProfile } from './foreign-table.ts'

const page = readFileSync(join(import.meta.dirname, '../../docs/foreign-tables.md'), 'utf8')
const block = (language: string): string => new RegExp(`\`\`\`${language}\\n([^\`]*)\`\`\``).exec(page)?.[1] ?? ''

it('the example of docs/foreign-tables.md is a valid profile', () => {
  expect(parseProfile(block('json'), 'the example')).toMatchObject({ table: 'shop.mail_jobs' })
})

it('docs/foreign-tables.md names the indexes that are advised for the table of the first article', () => {
  const named = block('sql')
    .trim()
    .split('\n')
    .map((line) => columnsOf(line.replace(/;$/, '')))
  const advised = advisedIndexes(shippedProfile('thesis-run-task')).map((index) => columnsOf(index).replaceAll('`', ''))
  expect(named.sort()).toEqual(advised.sort())
})
