import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { AppError } from '../kernel/index.ts'
import { parseProfile } from './profile.ts'

const shipped = join(import.meta.dirname, '../../resources/profiles')

const twenty = Array.from({ length: 20 }, (_, n) => n)
const waiting = { name: 'waiting', state: 'QUEUED', when: [{ column: 'state', in: ['waiting'] }], since: 'run_at' }
const jobs = {
  format: 1,
  name: 'Jobs',
  table: 'jobs',
  id: 'id',
  type: { column: 'kind' },
  times: { run_at: { kind: 'datetime', zone: 'UTC' } },
  states: [waiting]
}
const parse = (changes: object): unknown => parseProfile(JSON.stringify({ ...jobs, ...changes }), 'jobs.json')

function refusal(changes: object): string {
  try {
    parse(changes)
  } catch (error) {
    if (error instanceof AppError && error.code === 'INVALID_INPUT') return error.message
    throw error
  }
  throw new Error('it was taken')
}

it.each(readdirSync(shipped))('the profile %s that comes with Taskdeck is valid', (file) => {
  expect(parseProfile(readFileSync(join(shipped, file), 'utf8'), file)).toMatchObject({ format: 1 })
})

describe('a profile', () => {
  it('may name a table of another schema, and one type for all', () => {
    expect(parse({ table: 'other.jobs', type: { constant: 'job' } })).toMatchObject({ table: 'other.jobs' })
  })

  it.each([
    ['another version', { format: 2 }, 'format: '],
    ['what is not known', { colour: 'red' }, 'Unrecognized key: "colour"'],
    ['a name that is none', { id: 'id`; DROP TABLE jobs' }, 'id: a name of up to 64 letters'],
    ['a table with too many parts', { table: 'a.b.c' }, 'table: write TABLE or SCHEMA.TABLE'],
    [
      'SQL instead of a condition',
      { states: [{ ...waiting, when: ['1 = 1'] }] },
      'states[0].when[0]: write {"column": NAME} with one of'
    ],
    [
      'two conditions in one',
      { states: [{ ...waiting, when: [{ column: 'a', in: [1], is: 'null' }] }] },
      'states[0].when[0]: write'
    ],
    [
      'a zone with summer time',
      { times: { run_at: { kind: 'datetime', zone: 'Europe/Paris' } } },
      'times.run_at.zone: write "UTC" or an offset'
    ],
    [
      'a moment without an encoding',
      { times: {} },
      'states[0].since: say in "times" how the column "run_at" holds a moment'
    ],
    [
      'an age of such a column',
      { states: [{ ...waiting, when: [{ column: 'locked_at', olderThanSeconds: 5 }] }] },
      'states[0].when[0]: say in "times" how the column "locked_at"'
    ],
    ['a created column without one', { created: 'made_at' }, 'created: say in "times"'],
    ['no live state', { states: [{ ...waiting, state: 'SUCCESS' }] }, 'states: none of them waits or runs'],
    [
      '"since" of what runs',
      { states: [{ ...waiting, state: 'RUNNING' }] },
      'states[0].since: only states that wait or have ended'
    ],
    ['a state of nobody', { states: [{ ...waiting, state: 'DONE' }] }, 'states[0].state: '],
    [
      'one name twice',
      { states: [waiting, { ...waiting, when: [{ column: 'state', in: ['x'] }] }] },
      'states[1].name: "waiting" is there twice'
    ],
    [
      'a value twice, as most tables compare',
      { states: [{ ...waiting, when: [{ column: 'state', in: ['new', 'x', 'Néw '] }] }] },
      'states[0].when[0].in: "Néw " is there twice'
    ],
    [
      'too many combinations',
      { states: [{ ...waiting, when: ['a', 'b', 'c'].map((column) => ({ column, in: [1, 2, 3, 4] })) }] },
      '64 combinations'
    ],
    [
      'more combinations than could be made',
      { states: [{ ...waiting, when: ['a', 'b', 'c', 'd', 'e', 'f'].map((column) => ({ column, in: twenty })) }] },
      '64000000 combinations of values; at most 32'
    ]
  ])('is refused with %s, and says where', (_what, changes, message) => {
    const said = refusal(changes)
    expect(said).toContain('The profile jobs.json cannot be used:')
    expect(said).toContain(message)
  })

  it('that is no JSON is refused without a word of it', () => {
    expect(() => parseProfile('secret: hunter2', 'x')).toThrow('The profile x is not JSON.')
  })
})

describe('states', () => {
  const other = (when: object[]) => ({ states: [waiting, { name: 'other', state: 'RUNNING', when }] })
  const both = (a: object[], b: object[]) => ({
    states: [
      { name: 'a', state: 'QUEUED', when: a },
      { name: 'b', state: 'RUNNING', when: b }
    ]
  })
  const old = { column: 'run_at', olderThanSeconds: 60 }

  it.each([
    ['another column', other([{ column: 'kind', in: ['x'] }])],
    ['the same value in other letters', other([{ column: 'state', in: ['WAITING', 'x'] }])],
    ['what is only not something else', other([{ column: 'state', notIn: ['x'] }])],
    ['ages that meet', both([old], [{ column: 'run_at', youngerThanSeconds: 61 }])]
  ])('that a row may have both of are refused: %s', (_what, changes) => {
    expect(refusal(changes)).toMatch(/states\[0\]\.when: a row may be "\w+" and "\w+": add a condition/)
  })

  it.each([
    ['another value', other([{ column: 'state', in: ['x', 1] }])],
    ['NULL', other([{ column: 'state', is: 'null' }])],
    ['a value that is left out', other([{ column: 'state', notIn: ['waiting'] }])],
    ['NULL and not NULL', both([{ column: 'a', is: 'null' }], [{ column: 'a', is: 'notNull' }])],
    ['NULL and an age', both([{ column: 'run_at', is: 'null' }], [old])],
    ['ages that do not meet', both([old], [{ column: 'run_at', youngerThanSeconds: 60 }])]
  ])('that exclude each other are taken: %s', (_what, changes) => {
    expect(parse(changes)).toMatchObject({ format: 1 })
  })
})
