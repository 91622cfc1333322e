import { z } from 'zod'

/** Plain names only: they become part of statements, between backticks. */
export const identifier = z
  .string()
  .regex(/^[A-Za-z0-9_$-]{1,64}$/, 'a name of up to 64 letters, digits and _ $ - is needed')

const value = z.union([z.string().max(200), z.int()])
const values = z.array(value).min(1).max(20)
const seconds = z
  .int()
  .min(0)
  .max(366 * 86_400)

/** What a row of a state must fulfil in one column. Nothing but `is: null` fits NULL. Seconds count back from now. */
export const condition = z.union(
  [
    z.strictObject({ column: identifier, in: values }),
    z.strictObject({ column: identifier, notIn: values }),
    z.strictObject({ column: identifier, is: z.enum(['null', 'notNull']) }),
    z.strictObject({ column: identifier, olderThanSeconds: seconds }),
    z.strictObject({ column: identifier, youngerThanSeconds: seconds })
  ],
  {
    error:
      'write {"column": NAME} with one of "in": [values], "notIn": [values], "is": "null" or "notNull", "olderThanSeconds": N, "youngerThanSeconds": N'
  }
)
export type Condition = z.infer<typeof condition>

/** One exact value of a column; null is IS NULL. */
export interface Equal {
  readonly column: string
  readonly value: string | number | null
}
/** What does not pin a column to one value. */
export type Loose = Exclude<Condition, { in: unknown }>

/** Rows that an index finds as one range: exact values, then what is left of the conditions. The slices of a state have no row in common. */
export interface Slice {
  readonly equal: readonly Equal[]
  readonly loose: readonly Loose[]
}

/** One slice for each combination of the values of `in`. */
export function slicesOf(when: readonly Condition[]): Slice[] {
  let slices: Slice[] = [{ equal: [], loose: [] }]
  for (const one of when) {
    const exact = exactValues(one)
    slices = slices.flatMap<Slice>(({ equal, loose }) =>
      exact
        ? exact.map((each) => ({ equal: [...equal, { column: one.column, value: each }], loose }))
        : [{ equal, loose: [...loose, one as Loose] }]
    )
  }
  return slices
}

/** How many `slicesOf` makes. */
export const sliceCount = (when: readonly Condition[]): number =>
  when.reduce((product, one) => product * (exactValues(one)?.length ?? 1), 1)

function exactValues(one: Condition): readonly Equal['value'][] | undefined {
  if ('in' in one) return one.in
  return 'is' in one && one.is === 'null' ? [null] : undefined
}

/** Whether the conditions themselves say that no row is in both. */
export const exclude = (a: Slice, b: Slice): boolean =>
  saysNo(a, b) || saysNo(b, a) || a.loose.some((one) => b.loose.some((other) => leavesNothing(one, other)))

function saysNo(a: Slice, b: Slice): boolean {
  return a.equal.some(
    ({ column, value: exact }) =>
      b.equal.some((other) => other.column === column && !isSame(other.value, exact)) ||
      b.loose.some(
        (other) =>
          other.column === column &&
          (exact === null || ('notIn' in other && other.notIn.some((no) => isSame(no, exact))))
      )
  )
}

const leavesNothing = (a: Loose, b: Loose): boolean =>
  a.column === b.column &&
  (('olderThanSeconds' in a && 'youngerThanSeconds' in b && a.olderThanSeconds >= b.youngerThanSeconds) ||
    ('youngerThanSeconds' in a && 'olderThanSeconds' in b && b.olderThanSeconds >= a.youngerThanSeconds))

/** As most collations compare: without case, accents, and spaces at the end. */
export const isSame = (a: Equal['value'], b: Equal['value']): boolean =>
  a === null || b === null ? a === b : folded(a) === folded(b)

const folded = (value: string | number): string =>
  String(value).normalize('NFKD').replace(/\p{M}/gu, '').trimEnd().toLowerCase()
