import { isTerminal, transitions, type TaskState } from '../../src-main/kernel/index.ts'
import { checkClients } from './check-clients.ts'
import { checkEndState } from './check-end-state.ts'
import { checkRecovery } from './check-recovery.ts'
import { checkRetryDelay } from './check-retry-delay.ts'
import type { Evidence, WitnessEvent } from './evidence.ts'
import { LiveCounts } from './live-counts.ts'

/*
 * Reads both histories of a run (the database's own, see `witness.ts`, and what the processes were told) and says which promises
 * of RELIABILITY they break. Pure: its tests plant each fault and expect it to be named.
 */

export interface Violation {
  readonly rule:
    'I1' | 'I2' | 'I3' | 'I4' | 'I5' | 'I6' | 'I7' | 'I8' | 'I9' | 'F11' | 'F18' | 'transition' | 'dead letter'
  readonly taskId: string
  readonly text: string
}

export interface Verdict {
  readonly claims: number
  /** Of each attempt that was recovered: how long its lease had run out by then. */
  readonly recoveredAfterMs: readonly number[]
  /** Of each limit: the most that there ever was. */
  readonly most: Readonly<Record<string, number>>
  readonly violations: readonly Violation[]
}

export const leased = (state: TaskState | null): boolean => state === 'RUNNING' || state === 'CANCEL_REQUESTED'
const legal = new Set(transitions.map((t) => `${t.from}>${t.to}`))
const recoveredTo: readonly TaskState[] = ['RETRY_WAIT', 'FAILED', 'CANCELLED']

export function check(evidence: Evidence): Verdict {
  const replay = new Replay(evidence)
  for (const event of evidence.events) replay.take(event)
  return {
    claims: replay.claims,
    recoveredAfterMs: replay.recoveredAfterMs,
    most: Object.fromEntries(replay.live.most),
    violations: [
      ...replay.violations,
      ...checkEndState(evidence, replay.claimsOf),
      ...(evidence.history ? checkClients(evidence.history, evidence) : [])
    ]
  }
}

/** The events that an expert needs to see for a violation: those of its task. */
export function eventsOf(violation: Violation, evidence: Evidence): string[] {
  return evidence.events.filter((event) => event.taskId === violation.taskId).map(describeEvent)
}

const describeEvent = (event: WitnessEvent): string =>
  `#${event.seq} ${event.from ?? '-'}>${event.to} attempt ${event.attemptBefore}>${event.attemptAfter} by ${event.account}${event.leaseExpired ? ', lease expired' : ''}`

/** The model: one task at a time, in the order of the witness. */
class Replay {
  readonly violations: Violation[] = []
  readonly claimsOf = new Map<string, number>()
  claims = 0
  readonly recoveredAfterMs: number[] = []
  private readonly evidence: Evidence
  private readonly holder = new Map<string, string>()
  readonly live: LiveCounts

  constructor(evidence: Evidence) {
    this.evidence = evidence
    this.live = new LiveCounts(evidence.limits ?? {})
  }

  take(event: WitnessEvent): void {
    if (event.from === null) {
      for (const text of this.live.submit(event)) this.report('I7', event, text)
      return
    }
    if (isTerminal(event.to) && !isTerminal(event.from)) this.live.finish(event)
    if (isTerminal(event.from) && !isTerminal(event.to)) this.live.reopen(event)
    if (event.from === event.to && event.attemptAfter === event.attemptBefore) return this.touched(event)
    if (event.from !== event.to && !legal.has(`${event.from}>${event.to}`))
      this.report('transition', event, 'not in the table')
    if (isTerminal(event.from) && event.from !== event.to && !this.isRetryByOperator(event))
      this.report('I8', event, 'left a terminal state')
    if (event.attemptAfter !== event.attemptBefore) return this.claimed(event)
    if (leased(event.from) && !leased(event.to)) this.ended(event)
  }

  /** The only way out of an end. A worker's account in its place would be a rewound task. */
  private isRetryByOperator(event: WitnessEvent): boolean {
    return event.to === 'QUEUED' && this.evidence.operators.includes(event.account)
  }

  private claimed(event: WitnessEvent): void {
    this.claims++
    this.claimsOf.set(event.taskId, (this.claimsOf.get(event.taskId) ?? 0) + 1)
    if (event.attemptAfter !== event.attemptBefore + 1)
      this.report('I3', event, `attempt went from ${event.attemptBefore} to ${event.attemptAfter}`)
    if (leased(event.from)) this.report('I3', event, 'claimed while a lease was held')
    if (event.dueInMs > 0) this.report('I9', event, `claimed ${event.dueInMs} ms before it was due`)
    const { leaseMs } = this.evidence
    if (leaseMs !== undefined && (event.leaseMs === null || Math.abs(event.leaseMs - leaseMs) > 1))
      this.report('I3', event, `its lease is ${event.leaseMs} ms by the database's clock, not ${leaseMs}`)
    this.holder.set(event.taskId, event.account)
    if (leased(event.from)) return
    for (const text of this.live.add(event)) this.report('I7', event, text)
  }

  private ended(event: WitnessEvent): void {
    this.live.remove(event)
    if (event.to === 'RETRY_WAIT') {
      const policy = this.evidence.final.get(event.taskId)?.retryPolicy ?? null
      const text = checkRetryDelay(policy, event)
      if (text !== undefined) this.report('I9', event, text)
    }
    const owner = this.holder.get(event.taskId)
    if (owner === event.account) return
    if (event.leaseExpired && recoveredTo.includes(event.to)) this.recovered(event)
    else this.report('I4', event, `ended by another process than its holder ${owner ?? 'nobody'}`)
  }

  private recovered(event: WitnessEvent): void {
    this.recoveredAfterMs.push(event.leaseOverMs ?? 0)
    const { recovery } = this.evidence
    const late = recovery && checkRecovery(event, recovery)
    if (late !== undefined) this.report('I2', event, late)
  }

  /** The witness records a renewal, progress or a checkpoint only when another account than the holder's wrote it. */
  private touched(event: WitnessEvent): void {
    if (leased(event.from) && !this.evidence.operators.includes(event.account))
      this.report('I4', event, `written to by another process than its holder ${event.workerBefore ?? 'nobody'}`)
  }

  private report(rule: Violation['rule'], event: WitnessEvent, text: string): void {
    this.violations.push({ rule, taskId: event.taskId, text: `${describeEvent(event)}: ${text}` })
  }
}
