import { describe, expect, it } from 'vitest'
import type { Clock, Delivery } from '../../kernel/index.ts'
import { Courier, mostWaiting, type TryDelivery, type TryResult } from './courier.ts'
import { messageOf, notifierOf } from './notifiers.fixture.ts'

/** Waits are written down and are over at once, or never. */
function clockWith(waits: number[], { endless = false } = {}): Clock {
  return {
    now: () => 1_000,
    monotonic: () => 0,
    random: () => 0,
    sleep(ms, signal) {
      waits.push(ms)
      if (!endless) return Promise.resolve()
      return new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(new Error('aborted'))))
    }
  }
}
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
const failing: TryResult = { delivered: false, again: true, answer: 'HTTP 503' }
const done: TryResult = { delivered: true, again: false, answer: 'HTTP 200' }

function courierWith(attempt: TryDelivery, { endless = false } = {}) {
  const waits: number[] = []
  const records: Delivery[] = []
  const courier = new Courier({
    clock: clockWith(waits, { endless }),
    attempt,
    answerText: (answer) => answer,
    record: (delivery) => records.push(delivery)
  })
  const last = (): Delivery[] => [...new Map(records.map((one) => [one.id, one])).values()]
  return { courier, waits, records, last }
}

describe('courier', () => {
  it('records a message from its beginning to its end', async () => {
    const { courier, records } = courierWith(() => Promise.resolve(done))
    courier.send(notifierOf(), messageOf())
    await settled()
    expect(records).toMatchObject([
      {
        status: 'sending',
        tries: 0,
        what: 'fired',
        notifierId: 'n1',
        connectionId: 'orders-1',
        incidentId: 'i1',
        at: 1_000
      },
      { status: 'delivered', tries: 1, answer: 'HTTP 200', ms: 0 }
    ])
    expect(new Set(records.map(({ id }) => id)).size).toBe(1)
  })

  it('tries four times within three minutes, then says that it failed', async () => {
    const { courier, waits, records } = courierWith(() => Promise.resolve(failing))
    courier.send(notifierOf(), messageOf())
    await settled()
    expect(waits).toEqual([5_000, 30_000, 120_000])
    expect(records.map(({ status, tries }) => `${status} ${tries}`)).toEqual([
      'sending 0',
      'sending 1',
      'sending 2',
      'sending 3',
      'failed 4'
    ])
  })

  it('does not try again what cannot change', async () => {
    const { courier, waits, last } = courierWith(() =>
      Promise.resolve({ ...failing, again: false, answer: 'HTTP 404' })
    )
    courier.send(notifierOf(), messageOf())
    await settled()
    expect(waits).toEqual([])
    expect(last()).toMatchObject([{ status: 'failed', tries: 1, answer: 'HTTP 404' }])
  })

  it('keeps the order of one notifier and lets no other wait for it', async () => {
    const told: string[] = []
    let answer = (_result: TryResult): void => undefined
    const { courier } = courierWith((notifier, { what }) => {
      told.push(`${notifier.id} ${what}`)
      return notifier.id === 'slow' ? new Promise((resolve) => (answer = resolve)) : Promise.resolve(done)
    })
    courier.send(notifierOf({ id: 'slow' }), messageOf())
    courier.send(notifierOf({ id: 'slow' }), messageOf({ what: 'resolved' }))
    courier.send(notifierOf({ id: 'quick' }), messageOf())
    await settled()
    expect(told).toEqual(['slow fired', 'quick fired'])
    answer(done)
    await settled()
    expect(told.at(-1)).toBe('slow resolved')
    answer(done)
  })

  it('takes no more than so many for one that does not answer, and says which were left out', async () => {
    const { courier, last } = courierWith(() => new Promise<TryResult>(() => undefined))
    for (let n = 0; n < mostWaiting + 3; n++) courier.send(notifierOf(), messageOf())
    await settled()
    const failed = last().filter(({ status }) => status === 'failed')
    expect(failed.map(({ answer }) => answer)).toEqual(['crowded', 'crowded'])
  })

  it('ends what is under way when the app does, and says so', async () => {
    const { courier, last } = courierWith(() => Promise.resolve(failing), { endless: true })
    courier.send(notifierOf(), messageOf())
    await settled()
    await courier.stop()
    courier.send(notifierOf(), messageOf())
    expect(last()).toMatchObject([
      { status: 'failed', tries: 1, answer: 'stopped HTTP 503' },
      { status: 'failed', tries: 0, answer: 'stopped' }
    ])
  })

  it('tries a test once and answers how it went', async () => {
    const { courier, waits, records } = courierWith(() => Promise.resolve(failing))
    expect(await courier.sendNow(notifierOf(), messageOf({ what: 'test' }))).toMatchObject({
      status: 'failed',
      tries: 1,
      what: 'test'
    })
    expect(waits).toEqual([])
    expect(records).toHaveLength(2)
  })
})
