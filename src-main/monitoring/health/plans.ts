import {
  AppError,
  explain,
  type HealthVerdict,
  type PlanAdvice,
  type SqlDatabase,
  type SqlValue,
  type StatementPlan
} from '../../kernel/index.ts'
import { gapOf } from './gap.ts'
import { numberOf, textOf } from './row-values.ts'

/** A statement of the engine, with values to plan it for, and the index that it needs. */
export interface PlannedStatement {
  readonly name: StatementPlan['name']
  readonly sql: string
  readonly values: readonly SqlValue[]
  readonly index: { readonly name: string; readonly columns: string }
}

type Step = StatementPlan['steps'][number]

/** Our sessions for looking only read, and such a session may not plan a locking read (1792); the lock changes no plan. */
const lockClause = / FOR UPDATE SKIP LOCKED\s*$/
const keyUnknown = 1176

/** What FORCE INDEX names is not there. */
const isKeyUnknown = (error: unknown): boolean => error instanceof AppError && error.details['errno'] === keyUnknown

/** Plans only: nothing of it is run. The formats that a server may be set to by default are not asked for. */
export async function readPlan(
  database: Pick<SqlDatabase, 'execute'>,
  { name, sql, values, index }: PlannedStatement
): Promise<StatementPlan> {
  const known = { name, sql: sql.trim(), withoutLock: lockClause.test(sql) }
  try {
    const { rows } = await database.execute(explain(sql.replace(lockClause, '')), values)
    const steps = rows.map((row): Step => ({
      access: textOf(row, 'type') ?? '',
      key: textOf(row, 'key'),
      rows: numberOf(row, 'rows'),
      extra: textOf(row, 'Extra') ?? ''
    }))
    const [verdict, advice] = judgePlan(name, index.name, steps)
    return { ...known, steps, verdict, advice, remedy: verdict === 'bad' ? remedyOf(index, true) : null, gap: null }
  } catch (error) {
    const missing = isKeyUnknown(error)
    if (missing)
      return { ...known, steps: [], verdict: 'bad', advice: 'indexMissing', remedy: remedyOf(index, false), gap: null }
    return { ...known, steps: [], verdict: 'info', advice: 'notPlanned', remedy: null, gap: gapOf(error, null) }
  }
}

/** Pure: the index in its own order, or what is wrong first. */
export function judgePlan(
  name: StatementPlan['name'],
  index: string,
  steps: readonly Step[]
): readonly [HealthVerdict, PlanAdvice] {
  const [step] = steps
  if (!step) return ['info', 'notPlanned']
  if (step.key === null || step.access === 'ALL') return ['bad', 'noIndex']
  if (step.key !== index) return ['bad', 'otherIndex']
  if (steps.some(({ extra }) => /filesort/i.test(extra))) return ['bad', 'sorts']
  if (steps.some(({ extra }) => /temporary/i.test(extra))) return ['bad', 'temporary']
  return ['good', name === 'groups' ? 'jumps' : 'inOrder']
}

/** On a large table it takes its time; the claim waits for it. */
function remedyOf({ name, columns }: PlannedStatement['index'], isThere: boolean): string {
  const drop = isThere ? `DROP KEY ${name}, ` : ''
  return `ALTER TABLE taskdeck_task ${drop}ADD KEY ${name} (${columns})`
}
