import type { DatabaseHealth, LockWait, OpenTransaction, PlanAdvice, ServerHealth } from '@contract'
import { known } from './parts.ts'

/** What matters most about the database under a queue. */
export type DatabaseSentence =
  | { readonly kind: 'plan'; readonly advice: PlanAdvice }
  | {
      readonly kind: 'waits'
      readonly sessions: number
      readonly longestMs: number | null
      readonly blocker: OpenTransaction
      readonly isLong: boolean
    }
  | { readonly kind: 'binlog' }
  | { readonly kind: 'replicaStopped'; readonly channel: string }
  | { readonly kind: 'replicaLate'; readonly lagMs: number }
  | { readonly kind: 'oldTransaction'; readonly transaction: OpenTransaction }
  | { readonly kind: 'unpurged'; readonly count: number }
  | { readonly kind: 'sessions'; readonly peak: number; readonly most: number }
  /** What may be seen is well. */
  | { readonly kind: 'partly' }
  | { readonly kind: 'well' | 'file' }

export type SentenceTone = 'bad' | 'warn' | 'plain' | 'well'

export const limits = {
  /** A wait this long is no longer the usual give and take, ms. */
  waitMs: 1_000,
  /** A transaction this old keeps old row versions that claims walk over, ms. */
  transactionMs: 60_000,
  unpurged: 1_000_000,
  lagMs: 30_000
} as const

export function toneOf(sentence: DatabaseSentence): SentenceTone {
  switch (sentence.kind) {
    case 'plan':
    case 'binlog':
    case 'replicaStopped':
      return 'bad'
    case 'waits':
      return sentence.isLong ? 'bad' : 'warn'
    case 'partly':
      return 'plain'
    case 'well':
    case 'file':
      return 'well'
    default:
      return 'warn'
  }
}

/** The worst first. */
export function decideSentence(health: DatabaseHealth): DatabaseSentence {
  const plan = health.plans.find(({ verdict }) => verdict === 'bad')
  if (plan) return { kind: 'plan', advice: plan.advice }
  if (health.kind === 'sqlite') return isPlanned(health) ? { kind: 'file' } : { kind: 'partly' }
  return ofLocks(health) ?? ofServer(health) ?? ofTransactions(health) ?? ofSessions(health) ?? ofSight(health)
}

/** The session that most others wait for, directly or behind each other. */
export function firstBlocker(waits: readonly LockWait[]): OpenTransaction | null {
  const waiting = new Set(waits.map((wait) => wait.waiting.sessionId))
  const counts = new Map<string, { blocking: OpenTransaction; count: number }>()
  for (const { blocking } of waits) {
    const seen = counts.get(blocking.sessionId)
    counts.set(blocking.sessionId, { blocking, count: (seen?.count ?? 0) + 1 })
  }
  // One that waits itself is only in the middle of a chain.
  const rank = ({ blocking, count }: { blocking: OpenTransaction; count: number }): number =>
    count - (waiting.has(blocking.sessionId) ? 1_000 : 0)
  return [...counts.values()].sort((a, b) => rank(b) - rank(a))[0]?.blocking ?? null
}

function ofLocks({ waits }: ServerHealth): DatabaseSentence | null {
  const found = known(waits) ?? []
  const blocker = firstBlocker(found)
  if (!blocker) return null
  const lasting = found.flatMap(({ waitedMs }) => waitedMs ?? [])
  const longestMs = lasting.length > 0 ? Math.max(...lasting) : null
  const sessions = new Set(found.map(({ waiting }) => waiting.sessionId)).size
  return { kind: 'waits', sessions, longestMs, blocker, isLong: (longestMs ?? 0) >= limits.waitMs }
}

function ofServer({ settings, replicas }: ServerHealth): DatabaseSentence | null {
  if (known(settings)?.some(({ advice }) => advice === 'statementBinlog')) return { kind: 'binlog' }
  const channels = known(replicas) ?? []
  const stopped = channels.find(({ reads, applies }) => !reads || !applies)
  if (stopped) return { kind: 'replicaStopped', channel: stopped.name }
  const lagMs = Math.max(0, ...channels.map((channel) => channel.lagMs ?? 0))
  return lagMs > limits.lagMs ? { kind: 'replicaLate', lagMs } : null
}

function ofTransactions({ transactions }: ServerHealth): DatabaseSentence | null {
  const picture = known(transactions)
  const [oldest] = picture?.open ?? []
  if (oldest && oldest.ageMs >= limits.transactionMs) return { kind: 'oldTransaction', transaction: oldest }
  const unpurged = picture?.unpurged ?? 0
  return unpurged >= limits.unpurged ? { kind: 'unpurged', count: unpurged } : null
}

function ofSessions({ settings, counters }: ServerHealth): DatabaseSentence | null {
  const found = known(counters)
  const isScarce = known(settings)?.some(({ advice }) => advice === 'sessionsScarce') ?? false
  return found && isScarce ? { kind: 'sessions', peak: found.peakSessions ?? 0, most: found.mostSessions } : null
}

/** Nobody may say that claims read in order who could not read their plans. */
const isPlanned = ({ plans }: DatabaseHealth): boolean => plans.every(({ verdict }) => verdict === 'good')

const ofSight = (health: ServerHealth): DatabaseSentence =>
  health.waits.status === 'known' && isPlanned(health) ? { kind: 'well' } : { kind: 'partly' }
