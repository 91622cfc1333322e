import {
  isAbout,
  isHeldBack,
  isQuiet,
  limitsBy,
  numbersOf,
  queueTroubles,
  type AlertSignal,
  type AlertState,
  type Firing,
  type LinkState,
  type Problem,
  type QueueReading,
  type QueueTrouble,
  type ReadingNumbers
} from '@contract'
import { drainOf } from '@/shared/figures/drain.ts'
import { worstAlert, type OpenAlert } from './open-alerts.ts'

/** The one sentence before the charts; `overview.sentence.KIND` in the i18n files. The first that holds is said. */
export type Sentence =
  | { readonly kind: 'offline'; readonly since: number; readonly problem: Problem }
  | QueueTrouble
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
  /** Far more waits than goes out in minutes, and it grows. */
  | { readonly kind: 'growing'; readonly in1m: number; readonly out1m: number; readonly waiting: number }
  | { readonly kind: 'quiet' }

/** A sentence, with an incident that is open: since when, who has it, what else fires. */
export interface Said {
  readonly sentence: Sentence
  readonly alert: OpenAlert | null
  /** The firing is of what the sentence says; otherwise it only fires beside it. */
  readonly isSame: boolean
  /** What else is wrong, whether a rule fires for it or not. */
  readonly beside: QueueTrouble | null
  /** Until when nobody is told of what the sentence says; null: somebody is. */
  readonly silencedUntil: number | null
}

export function decideSentence(link: LinkState, reading: QueueReading, alerts?: AlertState): Said {
  if (link.status === 'lost') {
    const sentence = { kind: 'offline', since: link.since ?? reading.at, problem: link.problem } as const
    return { ...alone, sentence }
  }
  const [trouble, beside = null] = queueTroubles(reading, limitsBy(alerts?.rules))
  if (trouble && trouble.kind !== 'retrying') {
    const about = (firing: Pick<Firing, 'signal' | 'type'>): boolean => isAbout(trouble, firing)
    const alert = worstAlert(alerts, about)
    const isSame = alert !== null && about(alert.firing)
    const silences = (alerts?.rules ?? []).flatMap(({ rule, silencedUntil }) =>
      about(rule) ? (silencedUntil ?? []) : []
    )
    return { sentence: trouble, alert, isSame, beside, silencedUntil: isSame ? null : (silences.sort()[0] ?? null) }
  }
  const alert = worstAlert(alerts)
  if (alert) {
    const { signal, type, value, above } = alert.firing
    return { ...alone, sentence: { kind: 'alert', signal, type, value, above }, alert, isSame: true }
  }
  return { ...alone, sentence: trouble ?? calm(reading) }
}

const alone = { alert: null, isSame: false, beside: null, silencedUntil: null } as const

/** What somebody has silenced is in hands: it stays worth a look. */
export function toneOf({ sentence, silencedUntil }: Said): 'well' | 'warn' | 'bad' {
  const tone = sentenceTone[sentence.kind]
  return tone === 'bad' && silencedUntil !== null ? 'warn' : tone
}

function calm(reading: QueueReading): Sentence {
  const { depth, waiting, in1m, out1m, oldest } = numbersOf(reading)
  const isKnown = (probe: 'submitted' | 'finished'): boolean => !isHeldBack(reading, probe)
  if (isQuiet(reading, { depth, in1m, out1m })) return { kind: 'quiet' }
  if (isKnown('submitted') && isKnown('finished') && isFallingBehind({ waiting, in1m, out1m })) {
    return { kind: 'growing', in1m, out1m, waiting }
  }
  return {
    kind: 'well',
    in1m: isKnown('submitted') ? in1m : null,
    out1m: isKnown('finished') ? out1m : null,
    oldestMs: oldest?.ageMs ?? null
  }
}

/** What waits is more than goes out in five minutes; below, it grows and shrinks by chance. */
const isFallingBehind = (numbers: Pick<ReadingNumbers, 'waiting' | 'in1m' | 'out1m'>): boolean =>
  drainOf(numbers).kind === 'grows' && numbers.waiting > 5 * Math.max(1, numbers.out1m)

const sentenceTone: Record<Sentence['kind'], 'well' | 'warn' | 'bad'> = {
  offline: 'warn',
  noWorkers: 'bad',
  failing: 'bad',
  retrying: 'warn',
  growing: 'warn',
  oldest: 'bad',
  alert: 'bad',
  well: 'well',
  quiet: 'well'
}
