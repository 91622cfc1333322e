import {
  isHeldBack,
  type AlertSignal,
  type AlertState,
  type LinkState,
  type Problem,
  type QueueReading
} from '@contract'
import { numbersOf, worstTrouble, type TypeTrouble } from './reading-numbers.ts'
import { limitsOf, worstAlert, type OpenAlert } from './open-alerts.ts'

/** The one sentence before the charts; `overview.sentence.KIND` in the i18n files. The first that holds is said. */
export type Sentence =
  | { readonly kind: 'offline'; readonly since: number; readonly problem: Problem }
  | { readonly kind: 'noWorkers'; readonly waiting: number }
  | (TypeTrouble & { readonly type: string })
  | { readonly kind: 'oldest'; readonly type: string; readonly ageMs: number; readonly taskId: string }
  | {
      readonly kind: 'alert'
      readonly signal: AlertSignal
      readonly type: string
      readonly value: number
      readonly above: number
    }
  | {
      readonly kind: 'well'
      readonly in1m: number | null
      readonly out1m: number | null
      readonly oldestMs: number | null
    }
  | { readonly kind: 'quiet' }

/** A sentence, with the incident that is behind it: since when, who has it, what else fires. */
export interface Said {
  readonly sentence: Sentence
  readonly alert: OpenAlert | null
}

export function decideSentence(link: LinkState, reading: QueueReading, alerts?: AlertState): Said {
  if (link.status === 'lost') {
    return { sentence: { kind: 'offline', since: link.since ?? reading.at, problem: link.problem }, alert: null }
  }
  const alert = worstAlert(alerts)
  const trouble = troubleIn(reading, alerts)
  if (trouble) return { sentence: trouble, alert }
  if (alert) {
    const { signal, type, value, above } = alert.firing
    return { sentence: { kind: 'alert', signal, type, value, above }, alert }
  }
  return { sentence: worstTrouble(reading.flow) ?? calm(reading), alert: null }
}

/** What the newest reading says by itself: it names the type and the task, which a figure of the whole queue does not. */
function troubleIn(reading: QueueReading, alerts: AlertState | undefined): Sentence | null {
  const numbers = numbersOf(reading)
  const workersKnown = !isHeldBack(reading, 'workers')
  if (workersKnown && numbers.waiting > 0 && numbers.alive.length === 0) {
    return { kind: 'noWorkers', waiting: numbers.waiting }
  }
  const trouble = worstTrouble(reading.flow)
  if (trouble?.kind === 'failing') return trouble
  const { oldest } = numbers
  return oldest && oldest.ageMs > limitsOf(alerts).oldestMs ? { kind: 'oldest', ...oldest } : null
}

function calm(reading: QueueReading): Sentence {
  const { depth, in1m, out1m, oldest } = numbersOf(reading)
  const isKnown = (probe: 'submitted' | 'finished' | 'depth'): boolean => !isHeldBack(reading, probe)
  if (depth === 0 && in1m === 0 && out1m === 0 && isKnown('depth') && isKnown('submitted') && isKnown('finished')) {
    return { kind: 'quiet' }
  }
  return {
    kind: 'well',
    in1m: isKnown('submitted') ? in1m : null,
    out1m: isKnown('finished') ? out1m : null,
    oldestMs: oldest?.ageMs ?? null
  }
}

export const sentenceTone: Record<Sentence['kind'], 'well' | 'warn' | 'bad'> = {
  offline: 'warn',
  noWorkers: 'bad',
  failing: 'bad',
  retrying: 'warn',
  oldest: 'bad',
  alert: 'bad',
  well: 'well',
  quiet: 'well'
}
