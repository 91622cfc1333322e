import { randomUUID } from 'node:crypto'
import { pause, type Clock, type Delivery, type Notifier } from '../../kernel/index.ts'
import type { OutgoingMessage } from './outgoing-message.ts'
import type { OwnAnswer } from './phrases.ts'

/** One try to deliver a message. Never throws. */
export type TryDelivery = (notifier: Notifier, message: OutgoingMessage, signal: AbortSignal) => Promise<TryResult>

export interface TryResult {
  readonly delivered: boolean
  /** Whether another try may succeed. */
  readonly again: boolean
  /** Fit to be shown: no part of an address. */
  readonly answer: string
}

export interface CourierOptions {
  readonly clock: Clock
  readonly attempt: TryDelivery
  /** In the user's language. */
  readonly answerText: (answer: OwnAnswer) => string
  /** Called when a delivery begins and after each of its tries. */
  readonly record: (delivery: Delivery) => void
}

/** Between the tries of one message: four tries within three minutes. */
export const retryDelaysMs: readonly number[] = [5_000, 30_000, 120_000]
/** Messages to one notifier that wait for their turn. */
export const mostWaiting = 50

interface Parcel {
  readonly notifier: Notifier
  readonly message: OutgoingMessage
  readonly delivery: Delivery
}

/**
 * Carries messages to notifiers: to each one after the other, in their order, and to different ones at once. Every message leaves a delivery record,
 * also one that could not be carried.
 */
export class Courier {
  private readonly options: CourierOptions
  private readonly waiting = new Map<string, Parcel[]>()
  private readonly rounds = new Map<string, Promise<void>>()
  private readonly stopping = new AbortController()

  constructor(options: CourierOptions) {
    this.options = options
  }

  send(notifier: Notifier, message: OutgoingMessage): void {
    const parcel = this.parcel(notifier, message)
    const queue = this.waiting.get(notifier.id) ?? []
    if (this.stopping.signal.aborted) return this.refuse(parcel, 'stopped')
    if (queue.length >= mostWaiting) return this.refuse(parcel, 'crowded')
    this.options.record(parcel.delivery)
    this.waiting.set(notifier.id, [...queue, parcel])
    if (!this.rounds.has(notifier.id)) this.rounds.set(notifier.id, this.round(notifier.id))
  }

  /** One try, at once; how it went is the answer. */
  async sendNow(notifier: Notifier, message: OutgoingMessage): Promise<Delivery> {
    const parcel = this.parcel(notifier, message)
    this.options.record(parcel.delivery)
    return this.tryOnce(parcel, { last: true })
  }

  /** What is still under way is given up and recorded as failed. Idempotent. */
  async stop(): Promise<void> {
    this.stopping.abort()
    await Promise.all(this.rounds.values())
  }

  private async round(notifierId: string): Promise<void> {
    for (let parcel = this.next(notifierId); parcel; parcel = this.next(notifierId)) await this.carry(parcel)
    this.rounds.delete(notifierId)
  }

  private next(notifierId: string): Parcel | undefined {
    const [first, ...rest] = this.waiting.get(notifierId) ?? []
    if (rest.length > 0) this.waiting.set(notifierId, rest)
    else this.waiting.delete(notifierId)
    return first
  }

  private async carry(first: Parcel): Promise<void> {
    const { clock } = this.options
    let parcel = first
    for (const delayMs of [...retryDelaysMs, null]) {
      const delivery = await this.tryOnce(parcel, { last: delayMs === null })
      parcel = { ...parcel, delivery }
      if (delayMs === null || delivery.status !== 'sending') return
      // A fifth at random: several apps that lost one receiver come back apart.
      if (!(await pause(clock, delayMs * (1 + 0.2 * clock.random()), this.stopping.signal)))
        return this.refuse(parcel, 'stopped')
    }
  }

  private async tryOnce({ notifier, message, delivery }: Parcel, { last }: { last: boolean }): Promise<Delivery> {
    const { clock, attempt, record } = this.options
    const began = clock.monotonic()
    const { delivered, again, answer } = await attempt(notifier, message, this.stopping.signal)
    const status = delivered ? 'delivered' : last || !again ? 'failed' : 'sending'
    const ms = Math.round(clock.monotonic() - began)
    const tried: Delivery = { ...delivery, status, answer, ms, tries: delivery.tries + 1 }
    record(tried)
    return tried
  }

  private parcel(notifier: Notifier, message: OutgoingMessage): Parcel {
    const { connection, incidentId, what } = message
    const about = { notifierId: notifier.id, connectionId: connection?.id ?? null, incidentId, what }
    const begun = { status: 'sending', tries: 0, answer: '', ms: null } as const
    return { notifier, message, delivery: { id: randomUUID(), ...about, at: this.options.clock.now(), ...begun } }
  }

  private refuse({ delivery }: Parcel, reason: OwnAnswer): void {
    const { record, answerText } = this.options
    record({ ...delivery, status: 'failed', answer: `${answerText(reason)} ${delivery.answer}`.trim() })
  }
}
