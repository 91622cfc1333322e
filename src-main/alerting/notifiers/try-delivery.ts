import { AppError, withDeadline, type Clock, type Notifier } from '../../kernel/index.ts'
import type { OutgoingMessage, Language } from './outgoing-message.ts'
import type { TryDelivery, TryResult } from './courier.ts'
import type { DesktopNotifier } from './desktop-notifier.ts'
import { messageText } from './message-text.ts'
import { NoAnswer, postJson } from './post-json.ts'
import { phrasesOf, type Phrases } from './phrases.ts'
import { judgeAnswer, judgeNoAnswer } from './verdict.ts'
import { maskSecrets, type WebhookAddress } from './webhook-address.ts'
import { signedRequest, webhookBody } from './webhook-body.ts'

/** Of one try. */
export const tryDeadlineMs = 5_000

export interface DeliveryMeans {
  readonly clock: Clock
  readonly language: () => Language
  /** null: this shell has no desktop. */
  readonly desktop: DesktopNotifier | null
  /** null when none is known (any more). */
  readonly addressOf: (notifier: Notifier) => Promise<WebhookAddress | null>
  /** The user clicked the desktop's notification of this message. */
  readonly onClick: (message: OutgoingMessage) => void
  /** What else must not be seen is taken out. */
  readonly redact: (text: string) => string
  /** An error that is no state of the world. */
  readonly onBug: (error: unknown) => void
}

/** One try over the network or the desktop, whichever the notifier is. */
export function deliveryBy(means: DeliveryMeans): TryDelivery {
  return async (notifier, message, signal) => {
    try {
      if (notifier.kind === 'desktop') return await showOnDesktop(means, message)
      return await postToWebhook(means, { notifier, message, signal })
    } catch (error) {
      // A template that gives no JSON, a desktop that takes nothing.
      if (error instanceof AppError && error.kind !== 'bug') return failed(means.redact(error.message))
      means.onBug(error)
      return failed(answersOf(means).bug)
    }
  }
}

const failed = (answer: string): TryResult => ({ delivered: false, again: false, answer })
const answersOf = ({ language }: DeliveryMeans): Phrases['answers'] => phrasesOf(language()).answers

async function showOnDesktop(means: DeliveryMeans, message: OutgoingMessage): Promise<TryResult> {
  const { clock, desktop, language } = means
  const answers = answersOf(means)
  if (!desktop) return failed(answers.noDesktop)
  const shown = desktop.show(messageText(message, language()), () => means.onClick(message))
  await withDeadline(clock, tryDeadlineMs, shown, () => new AppError('DELIVERY_FAILED', 'operational', answers.timeout))
  return { delivered: true, again: false, answer: answers.shown }
}

interface Errand {
  readonly notifier: Notifier
  readonly message: OutgoingMessage
  readonly signal: AbortSignal
}

async function postToWebhook(means: DeliveryMeans, { notifier, message, signal }: Errand): Promise<TryResult> {
  const { clock, language, redact } = means
  const { format, template } = notifier
  const address = await means.addressOf(notifier)
  if (!address) return failed(answersOf(means).noAddress)
  const text = messageText(message, language())
  const unsigned = webhookBody(format, { message, text, template })
  const signed = signedRequest(format, address, { body: unsigned, now: clock.now() })
  try {
    const { status, text: said } = await postJson(signed.url, signed.body, { clock, deadlineMs: tryDeadlineMs, signal })
    // Before anything is cut off: half of a secret would not be found any more.
    const clean = redact(maskSecrets(said, { ...address, url: signed.url }))
    return judgeAnswer(format, { status, text: clean })
  } catch (error) {
    if (error instanceof NoAnswer) return judgeNoAnswer(error.reason, phrasesOf(language()))
    throw error
  }
}
