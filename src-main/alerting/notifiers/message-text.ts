import { shareSignals, type AlertSignal } from '../../kernel/index.ts'
import type { ToldFiring } from '../alerts-port.ts'
import type { OutgoingMessage, Language } from './outgoing-message.ts'
import { fill, phrasesOf, type Phrases } from './phrases.ts'

export interface MessageText {
  /** One line. */
  readonly title: string
  /** Lines, joined by newlines. */
  readonly body: string
}

const maxFirings = 10
const maxNameCharacters = 100
const minuteMs = 60_000

/** A message as a person reads it. Pure: the same message gives the same text. Times are UTC. */
export function messageText(message: OutgoingMessage, language: Language): MessageText {
  const phrases = phrasesOf(language)
  if (message.what === 'test') return { title: `[Taskdeck] ${phrases.test}`, body: phrases.testBody }
  const [first, ...rest] = message.firings
  const subject = first ? subjectOf(first, phrases) : ''
  const more = rest.length > 0 ? fill(phrases.more, { n: rest.length }) : ''
  const name = plainName(message.connection?.name ?? '')
  // "Taskdeck" stands in every message: robots may be set to take only messages with a keyword.
  const title = fill(phrases.title, { what: phrases[message.what], subject, more, name })
  const lines = message.firings.slice(0, maxFirings).map((firing) => lineOf(firing, phrases))
  return { title, body: [...lines, ...connectionLine(message, phrases)].join('\n') }
}

const subjectOf = ({ signal, type }: ToldFiring, phrases: Phrases): string =>
  phrases.signals[signal] + (type === '' ? '' : fill(phrases.ofType, { type: plainName(type) }))

function lineOf(firing: ToldFiring, phrases: Phrases): string {
  const { signal: name, value, above, since, firedAt, resolvedAt, peak, worst } = firing
  const signal = subjectOf(firing, phrases)
  if (resolvedAt !== null) {
    const duration = durationText(resolvedAt - (firedAt ?? since), phrases)
    return fill(phrases.lasted, { signal, duration, peak: valueText(name, peak, phrases) })
  }
  const now = { signal, value: valueText(name, value, phrases), above: valueText(name, above, phrases) }
  const by = worst && { type: plainName(worst.type), value: valueText(name, worst.value, phrases) }
  const parts = [fill(phrases.above, now), ...(by ? [fill(phrases.worst, by)] : [])]
  return [...parts, fill(phrases.since, { time: timeText(since) })].join(' · ')
}

function connectionLine({ connection }: OutgoingMessage, phrases: Phrases): string[] {
  if (!connection) return []
  const environment = phrases.environments[connection.environment] ?? connection.environment
  return [fill(phrases.connection, { name: plainName(connection.name), environment })]
}

/** A value in its signal's unit. */
export function valueText(signal: AlertSignal, value: number, phrases: Phrases): string {
  if (signal === 'oldestMs' || signal === 'claimP95' || signal === 'blindMs') return durationText(value, phrases)
  if (shareSignals.includes(signal)) return `${rounded(value * 100)} %`
  if (signal === 'growth') return fill(phrases.perMinute, { n: rounded(value) })
  return String(rounded(value))
}

function durationText(ms: number, { units }: Phrases): string {
  const near = Math.max(0, ms)
  if (near < 1_000) return fill(units.ms, { n: Math.round(near) })
  if (near < minuteMs) return fill(units.s, { n: rounded(near / 1_000) })
  if (near < 60 * minuteMs) return fill(units.min, { n: rounded(near / minuteMs) })
  return fill(units.h, { n: rounded(near / (60 * minuteMs)) })
}

const rounded = (value: number): number => Math.round(value * 10) / 10

const timeText = (at: number): string => `${new Date(at).toISOString().slice(0, 19).replace('T', ' ')} UTC`

/** One line without marks that hide or turn around what stands beside it. */
function plainName(name: string): string {
  const plain = name.replace(/[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu, ' ').toWellFormed()
  return plain.length > maxNameCharacters ? `${plain.slice(0, maxNameCharacters).toWellFormed()}…` : plain
}
