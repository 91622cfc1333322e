import { createHmac } from 'node:crypto'
import type { WebhookFormat } from '../../kernel/index.ts'
import type { ToldFiring } from '../alerts-port.ts'
import type { OutgoingMessage } from './outgoing-message.ts'
import { fillTemplate, type TemplateValues } from './json-template.ts'
import type { MessageText } from './message-text.ts'
import type { WebhookAddress } from './webhook-address.ts'

/** WeCom takes 2,048 bytes of text, the others more. */
const maxTextBytes = 2_000

export interface WebhookContent {
  readonly message: OutgoingMessage
  readonly text: MessageText
  /** Of the generic JSON; empty is our own form. */
  readonly template: string
}

/** The JSON text that a receiver of this format takes. Throws INVALID_INPUT for a template that gives none. */
export function webhookBody(format: WebhookFormat, content: WebhookContent): string {
  const { title, body } = content.text
  const text = shortened(`${title}\n${body}`)
  switch (format) {
    case 'json':
      return content.template.trim() === '' ? ownJson(content) : fillTemplate(content.template, templateValues(content))
    case 'slack':
      return JSON.stringify({ text: slackText(text) })
    case 'dingtalk':
      return JSON.stringify({ msgtype: 'text', text: { content: untagged(text) } })
    case 'feishu':
      return JSON.stringify({ msg_type: 'text', content: { text: untagged(text) } })
    case 'wecom':
      return JSON.stringify({ msgtype: 'text', text: { content: untagged(text) } })
  }
}

export interface SignedRequest {
  readonly url: URL
  readonly body: string
}

/**
 * The request as DingTalk and Feishu want it signed, with the app's clock: both refuse a signature that is more than an hour off. DingTalk signs
 * in the address (HMAC-SHA256 of "time\nsecret" under the secret), Feishu in the body (of nothing, under "time\nsecret").
 */
export function signedRequest(
  format: WebhookFormat,
  { url, signingSecret }: WebhookAddress,
  { body, now }: { body: string; now: number }
): SignedRequest {
  if (signingSecret === null) return { url, body }
  if (format === 'dingtalk') {
    const signed = new URL(url)
    signed.searchParams.set('timestamp', String(now))
    signed.searchParams.set('sign', hmac(signingSecret, `${now}\n${signingSecret}`))
    return { url: signed, body }
  }
  if (format !== 'feishu') return { url, body }
  const timestamp = String(Math.floor(now / 1_000))
  const sign = hmac(`${timestamp}\n${signingSecret}`, '')
  return { url, body: JSON.stringify({ timestamp, sign, ...(JSON.parse(body) as object) }) }
}

const hmac = (key: string, text: string): string => createHmac('sha256', key).update(text).digest('base64')

/** Throws INVALID_INPUT for a template that gives no JSON, or names what does not exist. Values change nothing about that. */
export function requireUsableTemplate(template: string): void {
  const message: OutgoingMessage = { what: 'test', connection: null, incidentId: null, firings: [], at: 0 }
  if (template.trim() !== '') fillTemplate(template, templateValues({ message, text: { title: '', body: '' } }))
}

/** All that a placeholder may name (docs/alerts.md). */
function templateValues({ message, text }: Omit<WebhookContent, 'template'>): TemplateValues {
  const { what, connection, incidentId, firings, at } = message
  const [first] = firings
  return {
    event: what,
    title: text.title,
    text: text.body,
    at: isoTime(at),
    connection: connection?.name ?? '',
    connectionId: connection?.id ?? '',
    environment: connection?.environment ?? '',
    incidentId: incidentId ?? '',
    signal: first?.signal ?? '',
    type: first?.type ?? '',
    value: first?.value ?? null,
    peak: first?.peak ?? null,
    above: first?.above ?? null,
    worstType: first?.worst?.type ?? '',
    worstValue: first?.worst?.value ?? null,
    since: isoTime(first?.since ?? null),
    firedAt: isoTime(first?.firedAt ?? null),
    resolvedAt: isoTime(first?.resolvedAt ?? null),
    count: firings.length
  }
}

function ownJson({ message, text }: WebhookContent): string {
  const { what, connection, incidentId, firings, at } = message
  return JSON.stringify({
    source: 'taskdeck',
    version: 1,
    event: what,
    at: isoTime(at),
    connection,
    incidentId,
    title: text.title,
    text: text.body,
    firings: firings.map(jsonFiring)
  })
}

const jsonFiring = ({ id, ruleId, signal, type, above, value, peak, worst, ...times }: ToldFiring): object => ({
  ...{ id, ruleId, signal, type, above, value, peak, worst },
  since: isoTime(times.since),
  firedAt: isoTime(times.firedAt),
  resolvedAt: isoTime(times.resolvedAt)
})

const isoTime = (at: number | null): string | null => (at === null ? null : new Date(at).toISOString())

/** Slack reads these three: `<!channel>` in the name of a type would call everybody. */
const slackText = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

/** Feishu and WeCom read `<at …>` and `<@…>` in a text and know no way to write a plain `<`. */
const untagged = (text: string): string => text.replaceAll('<', '＜').replaceAll('>', '＞')

/** Cut between characters. The replacements above add at most some dozens of bytes. */
function shortened(text: string): string {
  if (Buffer.byteLength(text) <= maxTextBytes) return text
  const cut = Buffer.from(text).subarray(0, maxTextBytes - 3)
  return `${cut.toString('utf8').replace(/\uFFFD+$/, '')}…`
}
