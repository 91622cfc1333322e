import type { TaskState } from '../../src-main/kernel/index.ts'
import { leased, type Violation } from './checker.ts'
import type { ClientHistory, SettleCall } from './client-history.ts'
import type { Evidence, WitnessEvent } from './evidence.ts'

/**
 * What the processes were told beside what the database did. A call whose answer is unknown may have happened or not; one that was
 * answered must have happened so, and what happened must have been asked for.
 */
export function checkClients(history: ClientHistory, evidence: Evidence): Violation[] {
  const { claims, ends } = attemptsOf(evidence.events)
  return [
    ...checkClaims(history, claims),
    ...checkSettles(history.settles, ends),
    ...checkEnds(history.settles, ends),
    ...history.repeats.flatMap(checkRepeat),
    ...history.lateClaims.map((account): Violation => ({
      rule: 'F18',
      taskId: '-',
      text: `${account} asked for tasks after it had been told to stop`
    }))
  ]
}

interface Attempts {
  /** By task and attempt: the account that claimed it. */
  readonly claims: ReadonlyMap<string, string>
  readonly ends: ReadonlyMap<string, WitnessEvent & { readonly holder: string | undefined }>
}

const keyOf = (taskId: string, attempt: number): string => `${taskId}/${attempt}`

function attemptsOf(events: readonly WitnessEvent[]): Attempts {
  const claims = new Map<string, string>()
  const ends = new Map<string, WitnessEvent & { readonly holder: string | undefined }>()
  for (const event of events) {
    const key = keyOf(event.taskId, event.attemptAfter)
    if (event.attemptAfter !== event.attemptBefore) claims.set(key, event.account)
    else if (leased(event.from) && !leased(event.to)) ends.set(key, { ...event, holder: claims.get(key) })
  }
  return { claims, ends }
}

function checkClaims({ claims }: ClientHistory, done: Attempts['claims']): Violation[] {
  return claims.flatMap(({ account, fence: [taskId, attempt] }): Violation[] => {
    const by = done.get(keyOf(taskId, attempt))
    if (by === account) return []
    return [{ rule: 'I3', taskId, text: `${account} was given attempt ${attempt}, which ${by ?? 'nobody'} claimed` }]
  })
}

/** The state that an answer names may be a later one: a repeat is answered with what the task is by then. */
const endsOf: Readonly<Record<string, readonly TaskState[]>> = {
  SUCCESS: ['SUCCESS'],
  PARTIAL_SUCCESS: ['PARTIAL_SUCCESS'],
  RETRY: ['RETRY_WAIT', 'CANCELLED'],
  FAILED: ['FAILED'],
  CANCELLED: ['CANCELLED'],
  HANDED_BACK: ['QUEUED', 'CANCELLED']
}

/** Accepted: the very attempt ended so, by this account. Refused: it did not. */
function checkSettles(settles: readonly SettleCall[], ends: Attempts['ends']): Violation[] {
  return settles.flatMap(({ account, fence: [taskId, attempt], outcome, state }): Violation[] => {
    if (state === undefined || state === null) return []
    const end = ends.get(keyOf(taskId, attempt))
    const asked = `${account} was told that its ${outcome} of attempt ${attempt} was accepted`
    if (!end) return [{ rule: 'I4', taskId, text: `${asked}, but that attempt never ended` }]
    if (end.account === account && endsOf[outcome]?.includes(end.to)) return []
    return [{ rule: 'I4', taskId, text: `${asked}, but ${end.account} ended it as ${end.to}` }]
  })
}

/** Whoever ended its own attempt without an expired lease must have asked for it. */
function checkEnds(settles: readonly SettleCall[], ends: Attempts['ends']): Violation[] {
  const asked = new Set(settles.map(({ account, fence }) => `${account} ${keyOf(...fence)}`))
  return [...ends].flatMap(([key, end]): Violation[] => {
    if (end.account !== end.holder || end.leaseExpired || asked.has(`${end.account} ${key}`)) return []
    return [
      { rule: 'I4', taskId: end.taskId, text: `attempt ${end.attemptAfter} ended as ${end.to}, which nobody asked for` }
    ]
  })
}

/** Delivered twice, it may say the same or (when the task went on since) refuse or name the newer state; never accept what was refused. */
function checkRepeat({
  account,
  fence: [taskId, attempt],
  first,
  again
}: ClientHistory['repeats'][number]): Violation[] {
  if (first !== null || again === null) return []
  return [{ rule: 'F11', taskId, text: `${account}: refused for attempt ${attempt}, then accepted as ${again}` }]
}
