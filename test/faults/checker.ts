import { isTerminal, transitions, type TaskState } from '../../src-main/kernel/index.ts'

/*
 * Reads the database's own record of a run (see `witness.ts`) and says which promises of RELIABILITY it breaks. Pure: its
 * tests plant each fault and expect it to be named.
 */

/** One row of the witness: written by a trigger in the transaction of the change, so its order is the true one. */
export interface WitnessEvent {
  readonly seq: number
  readonly taskId: string
  readonly from: TaskState | null
  readonly to: TaskState
  readonly attemptBefore: number
  readonly attemptAfter: number
  readonly workerBefore: string | null
  readonly workerAfter: string | null
  /** The database account of the session that wrote: one account per process, so it names the process for certain. */
  readonly account: string
  /** Whether the lease that was held before had run out by the database's clock at that moment. */
  readonly leaseExpired: boolean
}

export interface AttemptRow {
  readonly taskId: string
  readonly attempt: number
  readonly outcome: string
}

export interface Evidence {
  readonly submitted: readonly string[]
  readonly final: ReadonlyMap<string, { readonly state: TaskState; readonly attempt: number }>
  readonly events: readonly WitnessEvent[]
  readonly attempts: readonly AttemptRow[]
}

export interface Violation {
  readonly rule: 'I1' | 'I2' | 'I3' | 'I4' | 'I5' | 'I8' | 'transition'
  readonly taskId: string
  readonly text: string
}

export interface Verdict {
  readonly claims: number
  readonly recoveries: number
  readonly violations: readonly Violation[]
}

const leased = (state: TaskState | null): boolean => state === 'RUNNING' || state === 'CANCEL_REQUESTED'
const legal = new Set(transitions.map((t) => `${t.from}>${t.to}`))

export function check(evidence: Evidence): Verdict {
  const violations: Violation[] = []
  const claimsOf = new Map<string, number>()
  const holder = new Map<string, string>()
  let claims = 0
  let recoveries = 0

  for (const event of evidence.events) {
    const report = (rule: Violation['rule'], text: string): void => {
      violations.push({
        rule,
        taskId: event.taskId,
        text: `#${event.seq} ${event.from ?? '-'}>${event.to} by ${event.account}: ${text}`
      })
    }
    if (event.from === null) continue
    if (event.from !== event.to && !legal.has(`${event.from}>${event.to}`)) report('transition', 'not in the table')
    if (isTerminal(event.from) && event.from !== event.to && event.to !== 'QUEUED')
      report('I8', 'left a terminal state')

    const claimed = event.attemptAfter !== event.attemptBefore
    if (claimed) {
      claims++
      claimsOf.set(event.taskId, (claimsOf.get(event.taskId) ?? 0) + 1)
      if (event.attemptAfter !== event.attemptBefore + 1)
        report('I3', `attempt went from ${event.attemptBefore} to ${event.attemptAfter}`)
      if (leased(event.from)) report('I3', 'claimed while a lease was held')
      holder.set(event.taskId, event.account)
      continue
    }
    if (leased(event.from) && !leased(event.to)) {
      const owner = holder.get(event.taskId)
      if (owner === event.account) continue
      if (event.leaseExpired && (event.to === 'RETRY_WAIT' || event.to === 'FAILED' || event.to === 'CANCELLED'))
        recoveries++
      else report('I4', `ended by another process than its holder ${owner ?? 'nobody'}`)
    }
  }

  violations.push(...checkEndState(evidence, claimsOf))
  return { claims, recoveries, violations }
}

function checkEndState(evidence: Evidence, claimsOf: ReadonlyMap<string, number>): Violation[] {
  const violations: Violation[] = []
  const attemptsOf = new Map<string, number[]>()
  for (const row of evidence.attempts) attemptsOf.set(row.taskId, [...(attemptsOf.get(row.taskId) ?? []), row.attempt])

  for (const taskId of evidence.submitted) {
    const task = evidence.final.get(taskId)
    if (!task) {
      violations.push({ rule: 'I1', taskId, text: 'was acknowledged and is gone' })
      continue
    }
    if (!isTerminal(task.state)) violations.push({ rule: 'I2', taskId, text: `is still ${task.state}` })
    const claims = claimsOf.get(taskId) ?? 0
    const rows = (attemptsOf.get(taskId) ?? []).sort((a, b) => a - b)
    if (task.attempt !== claims)
      violations.push({ rule: 'I5', taskId, text: `${claims} claims, but its attempt is ${task.attempt}` })
    if (isTerminal(task.state) && rows.length !== claims)
      violations.push({ rule: 'I5', taskId, text: `${claims} claims, ${rows.length} attempt rows` })
    rows.forEach((attempt, index) => {
      if (attempt !== index + 1)
        violations.push({ rule: 'I5', taskId, text: `attempt rows ${rows.join(', ')} have a gap` })
    })
  }
  if (evidence.final.size !== evidence.submitted.length)
    violations.push({
      rule: 'I1',
      taskId: '-',
      text: `${evidence.submitted.length} submitted, ${evidence.final.size} rows`
    })
  return violations
}
