import type { LinkState, Problem, QueueReading } from '@contract'
import { isFailing, numbersOf, troubleRate } from './reading-numbers.ts'
import { thresholds } from './thresholds.ts'

/** The one sentence before the charts; `overview.sentence.KIND` in the i18n files. The first that holds is said. */
export type Sentence =
  | { readonly kind: 'offline'; readonly since: number; readonly problem: Problem }
  | { readonly kind: 'noWorkers'; readonly waiting: number }
  | { readonly kind: 'failing'; readonly type: string; readonly rate: number; readonly failed: number }
  | { readonly kind: 'oldest'; readonly type: string; readonly ageMs: number; readonly taskId: string }
  | { readonly kind: 'well'; readonly in1m: number; readonly out1m: number; readonly oldestMs: number | null }
  | { readonly kind: 'quiet' }

export function decideSentence(link: LinkState, reading: QueueReading): Sentence {
  if (link.status === 'lost') return { kind: 'offline', since: link.since ?? reading.at, problem: link.problem }
  const numbers = numbersOf(reading)
  if (numbers.waiting > 0 && numbers.alive.length === 0) return { kind: 'noWorkers', waiting: numbers.waiting }
  const failing = worstType(reading)
  if (failing) return failing
  const { oldest } = numbers
  if (oldest && oldest.ageMs > thresholds.oldestMs) return { kind: 'oldest', ...oldest }
  if (numbers.depth === 0 && numbers.in1m === 0 && numbers.out1m === 0) return { kind: 'quiet' }
  return { kind: 'well', in1m: numbers.in1m, out1m: numbers.out1m, oldestMs: oldest?.ageMs ?? null }
}

/** Of the types that fail, the one with the most failed attempts. */
function worstType(reading: QueueReading): Sentence | null {
  const worst = reading.flow
    .filter(isFailing)
    .map((flow) => ({ type: flow.type, rate: troubleRate(flow) ?? 0, failed: flow.failed5m, ended: flow.ended5m }))
    .sort((a, b) => b.rate * b.ended - a.rate * a.ended)[0]
  return worst ? { kind: 'failing', type: worst.type, rate: worst.rate, failed: worst.failed } : null
}

export const sentenceTone: Record<Sentence['kind'], 'plain' | 'warn' | 'bad'> = {
  offline: 'warn',
  noWorkers: 'bad',
  failing: 'bad',
  oldest: 'bad',
  well: 'plain',
  quiet: 'plain'
}
