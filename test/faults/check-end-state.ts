import { isTerminal } from '../../src-main/kernel/index.ts'
import type { Violation } from './checker.ts'
import type { AttemptRow, Evidence, FinalTask } from './evidence.ts'

/** What must be true of the rows after everything has healed and ended. */
export function checkEndState(evidence: Evidence, claimsOf: ReadonlyMap<string, number>): Violation[] {
  const violations: Violation[] = checkRows(evidence)
  const deathsOf = new Map<string, number>()
  for (const { taskId, from, to } of evidence.events)
    if (to === 'FAILED' && from !== 'FAILED') deathsOf.set(taskId, (deathsOf.get(taskId) ?? 0) + 1)
  const attemptsOf = Map.groupBy(evidence.attempts, ({ taskId }) => taskId)
  for (const [taskId, task] of evidence.final) {
    const report = (rule: Violation['rule'], text: string): void => void violations.push({ rule, taskId, text })
    const claims = claimsOf.get(taskId) ?? 0
    for (const text of checkAttempts(task, claims, attemptsOf.get(taskId) ?? [])) report('I5', text)
    for (const text of checkLetters(task, deathsOf.get(taskId) ?? 0)) report('dead letter', text)
    if (!isTerminal(task.state)) {
      report('I2', `is still ${task.state}`)
      continue
    }
    const wanted = evidence.expected?.get(task.title) ?? ['SUCCESS']
    if (wanted.includes(task.state)) continue
    const used = task.maxAttempts !== null && task.attemptsUsed >= task.maxAttempts
    if (task.state === 'FAILED' && !used)
      report('I5', `is FAILED after ${task.attemptsUsed} of ${task.maxAttempts ?? 'any number of'} attempts`)
    else report('I2', `ended ${task.state}, not ${wanted.join(' or ')}`)
  }
  return [...violations, ...checkEffects(evidence), ...checkTicks(evidence)]
}

/** Each acknowledged submission has its row, each unknown one at most one, and there is no other row. */
function checkRows({ submitted, unknown = [], scheduled, final }: Evidence): Violation[] {
  const violations: Violation[] = []
  const acknowledged = new Set(submitted)
  for (const taskId of acknowledged)
    if (!final.has(taskId)) violations.push({ rule: 'I1', taskId, text: 'was acknowledged and is gone' })
  const unclaimedTitles = new Set(unknown)
  for (const [taskId, { title }] of final) {
    if (acknowledged.has(taskId) || unclaimedTitles.delete(title) || title === scheduled?.title) continue
    violations.push({
      rule: 'I1',
      taskId,
      text: `nobody submitted it, or somebody did and it is there twice: ${title}`
    })
  }
  return violations
}

function checkAttempts(task: FinalTask, claims: number, rows: readonly AttemptRow[]): string[] {
  const texts: string[] = []
  const numbers = rows.map(({ attempt }) => attempt).sort((a, b) => a - b)
  if (task.attempt !== claims) texts.push(`${claims} claims, but its attempt is ${task.attempt}`)
  if (isTerminal(task.state) && numbers.length !== claims)
    texts.push(`${claims} claims, ${numbers.length} attempt rows`)
  if (numbers.some((attempt, index) => attempt !== index + 1))
    texts.push(`attempt rows ${numbers.join(', ')} have a gap`)
  return texts
}

/** One for each death, written with it; the newest is open until an operator resolves it, the others are resolved. */
function checkLetters({ state, deadLetters: { all, open } }: FinalTask, deaths: number): string[] {
  const texts: string[] = []
  if (all !== deaths) texts.push(`died ${deaths} times, ${all} dead letters`)
  if (open !== (state === 'FAILED' ? 1 : 0)) texts.push(`is ${state} with ${open} open dead letters`)
  return texts
}

function checkTicks({ scheduled }: Evidence): Violation[] {
  if (!scheduled || scheduled.tasks === scheduled.ticks) return []
  return [{ rule: 'F11', taskId: '-', text: `${scheduled.tasks} tasks of ${scheduled.ticks} ticks` }]
}

/** One effective entry for each task that succeeded, whatever number of attempts got so far. */
function checkEffects({ effects, final }: Evidence): Violation[] {
  if (!effects) return []
  const violations: Violation[] = []
  const counts = new Map<string, number>()
  for (const { title } of effects.rows) counts.set(title, (counts.get(title) ?? 0) + 1)
  for (const [taskId, { title, state, type }] of final) {
    if (!effects.types.includes(type)) continue
    const found = counts.get(title) ?? 0
    if (found > 1) violations.push({ rule: 'I6', taskId, text: `${found} effects of one task` })
    if (state === 'SUCCESS' && found === 0)
      violations.push({ rule: 'I6', taskId, text: 'succeeded without its effect' })
    counts.delete(title)
  }
  for (const title of counts.keys())
    violations.push({ rule: 'I6', taskId: '-', text: `an effect of ${title}, which is no task` })
  return violations
}
