import type { Notifier, NotifierDraft, WebhookFormat } from '@contract'

export const webhookFormats: readonly WebhookFormat[] = ['json', 'slack', 'dingtalk', 'feishu', 'wecom']

/** Names of products, the same in every language. */
export const formatNames: Readonly<Record<Exclude<WebhookFormat, 'json'>, string>> = {
  slack: 'Slack',
  dingtalk: 'DingTalk',
  feishu: 'Feishu',
  wecom: 'WeCom'
}

export type NotifierForm = Required<Omit<NotifierDraft, 'address'>> & { address: string }

/** The address is a secret that is never shown again: the field is empty, and empty keeps what is stored. */
export function formOf(notifier: Notifier | null, vault: boolean): NotifierForm {
  return {
    id: notifier?.id ?? null,
    name: notifier?.name ?? '',
    kind: notifier?.kind ?? 'webhook',
    format: notifier?.format ?? 'json',
    template: notifier?.template ?? '',
    enabled: notifier?.enabled ?? true,
    address: '',
    keepAddress: notifier?.address === 'session' || !vault ? 'session' : 'vault'
  }
}

export type FormFault = 'name' | 'addressMissing' | 'address' | 'template'

const placeholder = /\{\{[^{}]*\}\}/g

/** What keeps a form from being saved; null when nothing does. The app checks the same and more. */
export function faultOf(form: NotifierForm, known: Notifier | null): FormFault | null {
  if (form.name.trim() === '') return 'name'
  if (form.kind === 'desktop') return null
  const address = form.address.trim()
  if (address === '' && (known === null || known.address === 'missing' || known.address === 'none'))
    return 'addressMissing'
  if (address !== '' && !isSendable(address)) return 'address'
  return form.format === 'json' && form.template.trim() !== '' && !isJson(form.template) ? 'template' : null
}

/** https anywhere; plain http on this machine only. */
function isSendable(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, hostname } = new URL(text)
  const isLoopback = hostname === 'localhost' || hostname === '[::1]' || /^127\./.test(hostname)
  return protocol === 'https:' || (protocol === 'http:' && isLoopback)
}

function isJson(template: string): boolean {
  try {
    // A placeholder stands inside a text or for a whole value: as a number it fits into both.
    JSON.parse(template.replaceAll(placeholder, '0'))
    return true
  } catch {
    return false
  }
}

export function draftOfForm(form: NotifierForm): NotifierDraft {
  const address = form.address.trim()
  const isWebhook = form.kind === 'webhook'
  return {
    ...form,
    name: form.name.trim(),
    template: isWebhook && form.format === 'json' ? form.template.trim() : '',
    address: isWebhook && address !== '' ? address : null
  }
}

/** It is on, and nothing can be sent to it: its address was kept until Taskdeck ended, or cannot be read. */
export const isUnreachable = ({ enabled, address }: Notifier): boolean => enabled && address === 'missing'
