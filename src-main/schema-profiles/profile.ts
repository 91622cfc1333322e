import { z } from 'zod'
import { AppError, liveStates, taskState, terminalStates, waitingStates, type TaskState } from '../kernel/index.ts'
import { condition, exclude, identifier, isSame, sliceCount, slicesOf } from './conditions.ts'
import { timeEncoding, type TimeEncoding } from './time-encoding.ts'

/** Ranges of an index that one reading looks at, at most. */
const mostSlices = 32
/** Problems of one profile that are told at once. */
const mostProblems = 8

const stateMapping = z.strictObject({
  /** The table's own name for it. */
  name: z.string().regex(/^[a-z][a-z0-9-]{0,31}$/, 'a name of small letters, digits and - is needed'),
  /** What it is in Taskdeck. */
  state: taskState,
  /** All must hold. */
  when: z.array(condition).min(1).max(8),
  /** The column that says since when: for a state that waits, since when it is due; for one that is an end, when it ended. */
  since: identifier.optional()
})

const fields = z.strictObject({
  format: z.literal(1),
  name: z.string().min(1).max(100),
  /** `table` of the connection's database, or `schema.table`. */
  table: z
    .string()
    .regex(
      /^(?:[A-Za-z0-9_$-]{1,64}\.)?[A-Za-z0-9_$-]{1,64}$/,
      'write TABLE or SCHEMA.TABLE, letters, digits and _ $ - only'
    ),
  id: identifier,
  /** What tells tasks apart by kind: a column, or one name for all. */
  type: z.union([z.strictObject({ column: identifier }), z.strictObject({ constant: z.string().min(1).max(100) })], {
    error: 'write {"column": NAME} or {"constant": "one name for all tasks"}'
  }),
  /** How each column that holds a moment does so. */
  times: z.record(identifier, timeEncoding).default({}),
  /** When a task was submitted. */
  created: identifier.optional(),
  states: z.array(stateMapping).min(1).max(20)
})

/** The profile of one table that holds a queue: a mapping to our states, as data. */
export const tableProfile = fields.superRefine((profile, context) => {
  for (const { path, message } of contradictions(profile)) context.addIssue({ code: 'custom', path, message })
})
export type TableProfile = z.infer<typeof tableProfile>
export type StateMapping = TableProfile['states'][number]

/** Throws INVALID_INPUT that says what to change, and where. `source` is what it came from, such as a file's name. */
export function parseProfile(text: string, source: string): TableProfile {
  const parsed = tableProfile.safeParse(parseJson(text, source))
  if (parsed.success) return parsed.data
  const problems = parsed.error.issues.map(({ path, message }) => `${pathText(path)}: ${message}`)
  const more = problems.length - mostProblems
  const told = [...problems.slice(0, mostProblems), ...(more > 0 ? [`and ${more} more`] : [])]
  throw invalid(`The profile ${source} cannot be used:\n  ${told.join('\n  ')}`)
}

export const isWaiting = (state: TaskState): boolean => waitingStates.some((one) => one === state)
export const isEnd = (state: TaskState): boolean => terminalStates.some((one) => one === state)
export const isLive = (state: TaskState): boolean => liveStates.some((one) => one === state)

/** The column that tells tasks apart by kind; undefined when all are of one. */
export const typeColumn = ({ type }: TableProfile): string | undefined => ('column' in type ? type.column : undefined)

/** Where a table is; `schema` null is the connection's database. */
export interface TablePlace {
  readonly schema: string | null
  readonly name: string
}

export function tablePlace({ table }: Pick<TableProfile, 'table'>): TablePlace {
  const [name = '', schema = null] = table.split('.').reverse()
  return { schema, name }
}

/** Throws BUG for a column without one, which no valid profile has. */
export function encodingOf({ times }: TableProfile, column: string): TimeEncoding {
  const encoding = times[column]
  if (encoding) return encoding
  throw new AppError('BUG', 'bug', `The column ${column} has no encoding`)
}

interface Contradiction {
  readonly path: (string | number)[]
  readonly message: string
}

function contradictions(profile: TableProfile): Contradiction[] {
  const { states } = profile
  const slices = states.reduce((sum, { when }) => sum + sliceCount(when), 0)
  // Before any is made: a few lists make millions.
  if (slices > mostSlices)
    return [{ path: ['states'], message: `${slices} combinations of values; at most ${mostSlices} are looked at` }]
  return [
    ...withoutEncoding(profile),
    ...states.flatMap(({ since, state }, index) =>
      since === undefined || isWaiting(state) || isEnd(state)
        ? []
        : [{ path: ['states', index, 'since'], message: `only states that wait or have ended have it, not ${state}` }]
    ),
    ...states.flatMap(({ name }, index) =>
      states.findIndex((other) => other.name === name) === index
        ? []
        : [{ path: ['states', index, 'name'], message: `"${name}" is there twice` }]
    ),
    ...repeated(states),
    ...overlaps(states),
    ...(states.some(({ state }) => isLive(state)) ? [] : [{ path: ['states'], message: 'none of them waits or runs' }])
  ]
}

function withoutEncoding({ times, created, states }: TableProfile): Contradiction[] {
  const used = [
    ...(created === undefined ? [] : [{ path: ['created'], column: created }]),
    ...states.flatMap(({ since, when }, index) => [
      ...(since === undefined ? [] : [{ path: ['states', index, 'since'], column: since }]),
      ...when.flatMap((one, position) =>
        'olderThanSeconds' in one || 'youngerThanSeconds' in one
          ? [{ path: ['states', index, 'when', position], column: one.column }]
          : []
      )
    ])
  ]
  return used
    .filter(({ column }) => times[column] === undefined)
    .map(({ path, column }) => ({ path, message: `say in "times" how the column "${column}" holds a moment` }))
}

/** A value that is there twice would be counted twice. */
const repeated = (states: readonly StateMapping[]): Contradiction[] =>
  states.flatMap(({ when }, index) =>
    when.flatMap((one, position) => {
      const values = 'in' in one ? one.in : []
      const twice = values.find((value, place) => values.findIndex((other) => isSame(other, value)) < place)
      if (twice === undefined) return []
      const message = `"${twice}" is there twice: most tables compare without case, accents, and spaces at the end`
      return [{ path: ['states', index, 'when', position, 'in'], message }]
    })
  )

function overlaps(states: readonly StateMapping[]): Contradiction[] {
  return states.flatMap((mapping, index) =>
    states.slice(index + 1).flatMap((other) => {
      const apart = slicesOf(mapping.when).every((a) => slicesOf(other.when).every((b) => exclude(a, b)))
      if (apart) return []
      const message = `a row may be "${mapping.name}" and "${other.name}": add a condition to one that leaves out the other`
      return [{ path: ['states', index, 'when'], message }]
    })
  )
}

function parseJson(text: string, source: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // The parser's own words quote the file, which may be another one than was meant.
    throw invalid(`The profile ${source} is not JSON.`)
  }
}

const pathText = (path: readonly PropertyKey[]): string =>
  path.reduce<string>((text, part) => {
    if (typeof part === 'number') return `${text}[${part}]`
    return text === '' ? String(part) : `${text}.${String(part)}`
  }, '') || 'the profile'

/** What is wrong with a profile. */
export const invalid = (message: string): AppError =>
  new AppError('INVALID_INPUT', 'user', message, { details: { field: 'profile' } })
