import type { WebhookFormat } from '../../kernel/index.ts'
import type { Phrases } from './phrases.ts'
import type { HttpAnswer, NoAnswerReason } from './post-json.ts'

/** How one try went. */
export interface Verdict {
  readonly delivered: boolean
  /** Whether the same message may go through later. */
  readonly again: boolean
  /** What the receiver said, or why it said nothing. */
  readonly answer: string
}

const maxAnswerCharacters = 300
const okFrom = 200
const okTo = 299

/** Too many messages, or busy: DingTalk -1 and 130101, WeCom -1 and 45009, Feishu 9499 and 11232. Other codes stay what they are. */
const passingCodes: readonly number[] = [-1, 130101, 45009, 9499, 11232]

/** Slack answers `ok` and the generic receiver what it likes: the status decides. The others say 200 and their own code. */
export function judgeAnswer(format: WebhookFormat, { status, text }: HttpAnswer): Verdict {
  const answer = shownAnswer(status, text)
  if (status < okFrom || status > okTo) return { delivered: false, again: mayPass(status), answer }
  if (format === 'json' || format === 'slack') return { delivered: true, again: false, answer }
  const code = codeIn(format, text)
  if (code === null) return { delivered: false, again: true, answer }
  return { delivered: code === 0, again: passingCodes.includes(code), answer }
}

/** Those that another try can change. */
const mayPass = (status: number): boolean => status === 408 || status === 425 || status === 429 || status >= 500

/** null: this was not the receiver that the format is for. Feishu's older answers call the code StatusCode. */
function codeIn(format: WebhookFormat, text: string): number | null {
  const answer = parsed(text)
  const code = format === 'feishu' ? (answer['code'] ?? answer['StatusCode']) : answer['errcode']
  return typeof code === 'number' ? code : null
}

function parsed(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
  } catch {
    return {}
  }
}

/** One line without characters that hide something. */
function shownAnswer(status: number, text: string): string {
  const line = text.replace(/[\s\p{Cc}\p{Bidi_Control}]+/gu, ' ').trim()
  const cut = line.length > maxAnswerCharacters ? `${line.slice(0, maxAnswerCharacters).toWellFormed()}…` : line
  return cut === '' ? `HTTP ${status}` : `HTTP ${status}: ${cut}`
}

export const judgeNoAnswer = (reason: NoAnswerReason, { answers }: Phrases): Verdict => ({
  delivered: false,
  again: reason !== 'certificate' && reason !== 'notLoopback' && reason !== 'stopped',
  answer: answers[reason]
})
