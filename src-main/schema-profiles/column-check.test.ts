import { describe, expect, it } from 'vitest'
import { requireColumns } from './column-check.ts'
import { parseProfile } from './profile.ts'

const profile = parseProfile(
  JSON.stringify({
    format: 1,
    name: 'Jobs',
    table: 'jobs',
    id: 'id',
    type: { column: 'kind' },
    times: { at: { kind: 'datetime', zone: '+08:00' }, ms: { kind: 'epochMs' } },
    states: [
      {
        name: 'waiting',
        state: 'QUEUED',
        when: [
          { column: 'state', in: ['w'] },
          { column: 'code', notIn: [5] }
        ]
      }
    ]
  }),
  'jobs.json'
)
const fitting = { ID: 'bigint', Kind: 'varchar', at: 'datetime', ms: 'bigint', state: 'enum', code: 'int' }
const check =
  (changes: object = {}) =>
  (): void =>
    requireColumns(
      profile,
      Object.entries({ ...fitting, ...changes })
        .filter(([, kind]) => kind !== null)
        .map(([name, kind]) => ({ name, kind: String(kind) }))
    )

describe('the columns of a table', () => {
  it('fit, whatever the case of their names', () => {
    expect(check()).not.toThrow()
  })

  it('are asked for when there are none', () => {
    expect(() => requireColumns(profile, [])).toThrow(/no table jobs that this account may read: check "table"/)
  })

  it.each([
    [{ code: null }, '"code" is not in the table'],
    [{ Kind: 'json' }, '"kind" is json: choose a column that an index can hold as "type"'],
    [{ Kind: 'enum' }, '"kind" is enum: choose a column of texts or numbers as "type", or {"constant": NAME}'],
    [{ at: 'bigint' }, '"at" is bigint: say unixSeconds or epochMs in "times"'],
    [{ at: 'timestamp' }, '"at" is TIMESTAMP: its zone in "times" is "UTC"'],
    [{ ms: 'datetime' }, '"ms" is datetime: epochMs in "times" is for numbers'],
    [{ state: 'int' }, '"state" is int: write its values without quotes'],
    [{ code: 'varchar' }, '"code" is varchar: write its values in quotes']
  ])('that do not fit are named: %j', (changes, message) => {
    expect(check(changes)).toThrow(message)
  })
})
