import type { Delivery, Notifier, NotifierDraft } from '@contract'

/** Whom the demo tells. */
export class DemoNotifiers {
  private all: Notifier[]
  private readonly tests: Delivery[] = []
  private made = 0

  constructor(some: boolean) {
    const desktop: Notifier = {
      id: 'desktop',
      name: 'Desktop',
      kind: 'desktop',
      format: 'json',
      template: '',
      enabled: true,
      host: null,
      address: 'none'
    }
    const webhook = { kind: 'webhook' as const, template: '', enabled: true }
    this.all = [desktop]
    if (!some) return
    this.all.push(
      { ...webhook, id: 'on-call', name: 'on-call', format: 'slack', host: 'hooks.slack.com', address: 'vault' },
      {
        ...webhook,
        id: 'journal',
        name: 'journal',
        format: 'json',
        host: 'journal.clinic.example',
        address: 'missing',
        enabled: false
      }
    )
  }

  list(): Notifier[] {
    return this.all
  }

  save({ id = null, address = null, keepAddress = 'session', ...draft }: NotifierDraft): Notifier[] {
    const known = this.all.find((one) => one.id === id)
    const isWebhook = draft.kind === 'webhook'
    const saved: Notifier = {
      format: 'json',
      template: '',
      enabled: true,
      ...draft,
      id: known?.id ?? `notifier-${++this.made}`,
      host: isWebhook ? (address ? new URL(address).host : (known?.host ?? null)) : null,
      address: isWebhook ? (address ? keepAddress : (known?.address ?? 'missing')) : 'none'
    }
    this.all = known ? this.all.map((one) => (one.id === saved.id ? saved : one)) : [...this.all, saved]
    return this.all
  }

  remove(notifierId: string): Notifier[] {
    this.all = this.all.filter((one) => one.id !== notifierId)
    return this.all
  }

  test(notifierId: string, at: number): Delivery {
    const works = this.all.find((one) => one.id === notifierId)?.address !== 'missing'
    const delivery: Delivery = {
      id: `test-${++this.made}`,
      notifierId,
      connectionId: null,
      incidentId: null,
      what: 'test',
      at,
      status: works ? 'delivered' : 'failed',
      tries: 1,
      answer: works ? '200 OK' : 'No address is known for this webhook.',
      ms: works ? 88 : null
    }
    this.tests.unshift(delivery)
    return delivery
  }

  tested(): Delivery[] {
    return this.tests
  }
}
