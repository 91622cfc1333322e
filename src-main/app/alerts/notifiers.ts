import { randomUUID } from 'node:crypto'
import type { z } from 'zod'
import {
  Courier,
  deliveryBy,
  parseWebhookAddress,
  phrasesOf,
  requireUsableTemplate,
  secretsOf,
  shownHost,
  type DesktopNotifier,
  type Language,
  type MessageConnection,
  type OutgoingMessage,
  type WebhookAddress
} from '../../alerting/notifiers/index.ts'
import type { IncidentMessage, NotifierRecords, StoredNotifier } from '../../alerting/index.ts'
import type { Secrets, SecretTarget } from '../../connections/index.ts'
import type { notifierDraft } from '../../contract/index.ts'
import { AppError, type Clock, type Delivery, type Notifier } from '../../kernel/index.ts'
import type { AppLog } from '../app-log.ts'

export type ParsedNotifierDraft = z.output<typeof notifierDraft>

export interface NotifiersOptions {
  readonly clock: Clock
  readonly log: AppLog
  readonly records: NotifierRecords
  readonly secrets: Secrets
  readonly desktop: DesktopNotifier | null
  readonly language: () => Language
  /** undefined once it is gone. */
  readonly connection: (connectionId: string) => MessageConnection | undefined
  /** Of all connections: what somebody whom messages reach only now is to be told. */
  readonly firing: () => readonly IncidentMessage[]
  /** The user clicked a desktop notification: the moment is on the clock of the readings. */
  readonly onShow: (connectionId: string, at: number) => void
  /** A message could not be delivered, and none to this notifier since it last could. */
  readonly onFailure: (error: AppError) => void
  /** At the start: some of those that are on have no address any more, and are told of nothing. */
  readonly onUnreachable: (error: AppError) => void
}

/** Who is told of alerts, and what became of it. Addresses are secrets: they enter here and never leave, but as a request. */
export class Notifiers {
  private readonly options: NotifiersOptions
  private readonly courier: Courier
  /** Those of which the user knows that they fail. */
  private readonly failing = new Set<string>()
  /** Who was sent in this run that an incident fires: where records cannot be kept, they are told that it is over all the same. */
  private readonly sent = new Set<string>()

  constructor(options: NotifiersOptions) {
    const { clock, log, desktop, language } = options
    this.options = options
    const attempt = deliveryBy({
      ...{ clock, desktop, language },
      addressOf: (notifier) => this.address(notifier),
      onClick: ({ connection, at }) => connection && options.onShow(connection.id, at),
      redact: (text) => log.redact(text),
      onBug: (error) => log.bug(error)
    })
    const answerText: Courier['options']['answerText'] = (answer) => phrasesOf(language()).answers[answer]
    this.courier = new Courier({ clock, attempt, answerText, record: (delivery) => this.record(delivery) })
    this.endUnfinished()
  }

  async list(): Promise<Notifier[]> {
    return Promise.all(this.options.records.notifiers().map((stored) => this.view(stored)))
  }

  /** Says of whom no address is known, as of those that were kept until Taskdeck ended. Never throws. */
  async announceUnreachable(): Promise<void> {
    try {
      const unreachable = (await this.list()).filter(({ enabled, address }) => enabled && address === 'missing')
      if (unreachable.length > 0) this.options.onUnreachable(addressesMissing(unreachable.map(({ name }) => name)))
    } catch (error) {
      this.options.log.bug(error)
    }
  }

  /** Whom messages reach only from now on is told of what fires. Throws INVALID_INPUT, LIMIT_REACHED, NOT_FOUND, VAULT_UNAVAILABLE, and what the two files throw; then nothing changed. */
  async save(draft: ParsedNotifierDraft): Promise<void> {
    const { records } = this.options
    const known = draft.id === null ? null : this.stored(draft.id)
    const wasReached = known !== null && draft.address === null && isReached(await this.view(known), draft.kind)
    requireUsableTemplate(draft.format === 'json' ? draft.template : '')
    const address = draft.kind === 'webhook' && draft.address !== null ? parseWebhookAddress(draft.address) : null
    const host = draft.kind === 'desktop' ? null : address ? shownHost(address) : (known?.host ?? null)
    if (draft.kind === 'webhook' && host === null) throw addressMissing()
    const { name, kind, format, template, enabled } = draft
    const stored = { id: known?.id ?? randomUUID(), name, kind, format, template, enabled, host }
    records.saveNotifier(stored)
    this.failing.delete(stored.id)
    try {
      await this.keepAddress(stored, address, draft)
    } catch (error) {
      if (known) records.saveNotifier(known)
      else records.removeNotifier(stored.id)
      throw error
    }
    if (!wasReached && isReached(await this.view(stored), draft.kind))
      this.quietly(() => this.options.firing().forEach((message) => this.send([stored], message)))
  }

  /** Throws NOT_FOUND, and what the two files throw. */
  async remove(notifierId: string): Promise<void> {
    this.stored(notifierId)
    await this.options.secrets.forget(secretId(notifierId))
    this.options.records.removeNotifier(notifierId)
  }

  /** One message, one try. Throws NOT_FOUND. */
  async test(notifierId: string): Promise<Delivery> {
    const { clock } = this.options
    const message = { what: 'test', connection: null, incidentId: null, firings: [], at: clock.now() } as const
    return this.courier.sendNow(await this.view(this.stored(notifierId)), message)
  }

  deliveries(): Delivery[] {
    return this.options.records.deliveries()
  }

  /** Never throws; what comes of it is in the deliveries. That it is over is told to those who were sent that it fires. */
  tell(message: IncidentMessage): void {
    this.quietly(() => {
      const enabled = this.options.records.notifiers().filter((notifier) => notifier.enabled)
      const concerned = message.what === 'resolved' ? enabled.filter(({ id }) => this.wasSent(id, message)) : enabled
      this.send(concerned, message)
    })
  }

  stop(): Promise<void> {
    return this.courier.stop()
  }

  private send(to: readonly StoredNotifier[], { what, connectionId, at, incident, firings }: IncidentMessage): void {
    const about = this.options.connection(connectionId)
    if (!about) return
    const message: OutgoingMessage = { what, connection: about, incidentId: incident.id, firings, at }
    for (const stored of to) {
      // Where an address is plays no part in sending.
      this.courier.send({ ...stored, address: 'none' }, message)
      if (what === 'resolved') this.sent.delete(sentKey(stored.id, incident.id))
      else this.sent.add(sentKey(stored.id, incident.id))
    }
  }

  private wasSent(notifierId: string, { incident }: IncidentMessage): boolean {
    return this.sent.has(sentKey(notifierId, incident.id)) || this.options.records.wasSent(notifierId, incident.id)
  }

  private quietly(work: () => void): void {
    try {
      work()
    } catch (error) {
      this.options.log.bug(error)
    }
  }

  private record(delivery: Delivery): void {
    const { records } = this.options
    records.saveDelivery(delivery)
    const { notifierId, status, what } = delivery
    if (status === 'delivered') this.failing.delete(notifierId)
    if (status !== 'failed' || what === 'test' || this.failing.has(notifierId)) return
    this.failing.add(notifierId)
    this.options.onFailure(deliveryFailed(this.find(notifierId)?.name ?? '', delivery.answer))
  }

  /** The app ended, or was killed, in the middle of these. */
  private endUnfinished(): void {
    const { records, language } = this.options
    const answer = phrasesOf(language()).answers.stopped
    const unfinished = records.deliveries().filter(({ status }) => status === 'sending')
    for (const delivery of unfinished) records.saveDelivery({ ...delivery, status: 'failed', answer })
  }

  private find(notifierId: string): StoredNotifier | undefined {
    return this.options.records.notifiers().find(({ id }) => id === notifierId)
  }

  private stored(notifierId: string): StoredNotifier {
    const stored = this.find(notifierId)
    if (!stored) throw new AppError('NOT_FOUND', 'user', 'This notifier does not exist (any more).')
    return stored
  }

  private async view(stored: StoredNotifier): Promise<Notifier> {
    const { id, host } = stored
    const address = host === null ? 'none' : await this.options.secrets.place(secretId(id), targetOf(host))
    return { ...stored, address }
  }

  private async keepAddress(
    { id, host }: StoredNotifier,
    address: WebhookAddress | null,
    draft: ParsedNotifierDraft
  ): Promise<void> {
    const { secrets } = this.options
    if (host === null) return secrets.forget(secretId(id))
    if (!address || draft.address === null) return
    this.hide(address)
    const secret = { password: draft.address.trim(), place: draft.keepAddress }
    await secrets.keep(secretId(id), targetOf(host), secret)
  }

  private async address({ id, host }: Notifier): Promise<WebhookAddress | null> {
    const text = host === null ? null : await this.options.secrets.password(secretId(id), targetOf(host))
    if (text === null) return null
    const address = parseWebhookAddress(text)
    this.hide(address)
    return address
  }

  /** From now on no text that the app writes or shows holds a piece of it. */
  private hide(address: WebhookAddress): void {
    for (const secret of secretsOf(address)) this.options.log.hide(secret)
  }
}

/** Messages get to it as it is, and as one of this kind. */
const isReached = ({ enabled, address, kind }: Notifier, as: Notifier['kind']): boolean =>
  enabled && address !== 'missing' && kind === as

const sentKey = (notifierId: string, incidentId: string): string => `${notifierId} ${incidentId}`

/** Beside the passwords of connections, whose ids hold no colon. */
const secretId = (notifierId: string): string => `notifier:${notifierId}`

/** An address is used for the host that is shown, and for no other. */
const targetOf = (host: string): SecretTarget => ({ host, port: 0, user: '' })

const addressMissing = (): AppError =>
  new AppError('INVALID_INPUT', 'user', 'Enter the address of the webhook.', { details: { field: 'address' } })

const deliveryFailed = (name: string, answer: string): AppError =>
  new AppError('DELIVERY_FAILED', 'operational', `${name} could not be told of an alert. ${answer}`, {
    details: { name, answer }
  })

function addressesMissing(all: readonly string[]): AppError {
  const names = all.join(', ')
  const message = `No address is known (any more) for ${names}: enter it again under Alerts > Notifiers.`
  return new AppError('ADDRESS_MISSING', 'operational', message, { details: { names } })
}
