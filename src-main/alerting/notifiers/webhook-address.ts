import { AppError } from '../../kernel/index.ts'

/** Where a webhook is sent, and what its receiver wants it signed with. All of it is secret. */
export interface WebhookAddress {
  readonly url: URL
  /** Of DingTalk and Feishu: what stands behind the `#`, which HTTP never sends. null: not signed. */
  readonly signingSecret: string | null
}

const refusal = (message: string): AppError =>
  new AppError('INVALID_INPUT', 'user', message, { details: { field: 'address' } })

/** Throws INVALID_INPUT; its text holds no part of the address. */
export function parseWebhookAddress(text: string): WebhookAddress {
  const url = URL.canParse(text.trim()) ? new URL(text.trim()) : null
  if (!url) throw refusal('This is no web address: paste it as the receiver gave it, from https:// on.')
  if (url.username !== '' || url.password !== '')
    throw refusal('An address with a user and password in it is not taken: use one with a token.')
  const isLoopback = isLoopbackName(url.hostname)
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLoopback))
    throw refusal('Use an https address. Plain http is taken for this machine (127.0.0.1) only.')
  const signingSecret = url.hash === '' ? null : plainText(url.hash.slice(1))
  url.hash = ''
  return { url, signingSecret }
}

function plainText(encoded: string): string {
  try {
    return decodeURIComponent(encoded)
  } catch {
    return encoded
  }
}

/** `URL` has brought every way to write an IPv4 address into the form with four numbers. */
const isLoopbackName = (host: string): boolean =>
  host === 'localhost' || host === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(host)

/** An address of this machine, as a resolver gives it. */
export const isLoopbackAddress = (ip: string): boolean => ip === '::1' || /^(::ffff:)?127\.\d+\.\d+\.\d+$/.test(ip)

/** Host, and port where it is not the usual one: the part that may be shown. */
export const shownHost = ({ url }: WebhookAddress): string => url.host

const shortestSecret = 6
/** `services` and `webhook` are words; taken out of every text they would make it unreadable. */
const looksLikeToken = (piece: string): boolean =>
  piece.length >= 16 || (piece.length >= shortestSecret && /\d/.test(piece))

/** Every piece of an address that must not be seen, the longest first. */
export function secretsOf({ url, signingSecret }: WebhookAddress): string[] {
  const values = [...url.searchParams.values()].flatMap((value) => [value, encodeURIComponent(value.toWellFormed())])
  const whole = [url.href, url.pathname + url.search, url.search, signingSecret ?? '']
  const pieces = [...url.pathname.split('/'), ...values].filter(looksLikeToken)
  const secrets = new Set([...whole, ...pieces].filter((piece) => piece.length >= shortestSecret))
  return [...secrets].sort((a, b) => b.length - a.length)
}

/** What a receiver answers may repeat the address, or a part of it. */
export const maskSecrets = (text: string, address: WebhookAddress): string =>
  secretsOf(address).reduce((clean, secret) => clean.replaceAll(secret, '•••'), text)
