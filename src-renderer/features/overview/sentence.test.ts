import { describe, expect, it } from 'vitest'
import { limitsBy, type LinkState, type QueueReading, type TypeFlow } from '@contract'
import { makeScene, refused } from '@/testing/scenes.ts'
import { readingAt } from '@/testing/demo-queue.ts'
import { DemoAlerts } from '@/testing/demo-alerts.ts'
import { drainOf } from '@/shared/figures/drain.ts'
import { seriesKey } from '@/state/series-ring.ts'
import { aboveSince, seenSince } from './above-since.ts'
import type { OpenAlert } from './open-alerts.ts'
import { decideSentence as decide, toneOf, type Sentence } from './sentence.ts'

const now = 1_770_000_000_000
const live: LinkState = { status: 'live', lastReadingAt: now }
const healthy = readingAt(makeScene('healthy', now).queues['clinic-main']!, now)
const failing = readingAt(makeScene('failing', now).queues['clinic-main']!, now)
const empty: QueueReading = { ...healthy, depth: [], oldest: [], flow: [], workers: [] }
const flow = (type: string, ended5m: number, failed5m: number): TypeFlow => ({
  type,
  submitted1m: 1,
  finished1m: 1,
  ended5m,
  failed5m,
  retried5m: 0,
  recovered5m: 0,
  duration: null,
  pickup: null
})

const decideSentence = (link: LinkState, reading: QueueReading): Sentence => decide(link, reading).sentence

describe('decideSentence', () => {
  it('says first that the picture is old, whatever the picture shows', () => {
    const lost: LinkState = { status: 'lost', since: now - 5_000, nextTryAt: now, failures: 1, problem: refused }
    expect(decideSentence(lost, failing)).toMatchObject({ kind: 'offline', since: now - 5_000 })
  })

  it('says that nobody works before it says what fails', () => {
    expect(decideSentence(live, { ...failing, workers: [] }).kind).toBe('noWorkers')
  })

  it('does not miss workers when nothing waits', () => {
    expect(decideSentence(live, { ...empty, workers: [] }).kind).toBe('quiet')
  })

  it('names the failing type with the failure rate that tile and rule have, and what is tried again beside it', () => {
    const reading = { ...healthy, flow: [{ ...flow('import', 100, 20), retried5m: 30, recovered5m: 5 }] }
    expect(decideSentence(live, reading)).toEqual({
      kind: 'failing',
      type: 'import',
      failureRate: 0.2,
      againRate: 0.35
    })
  })

  it('chooses the type with the most failed attempts, not the smallest sample', () => {
    const reading = { ...healthy, flow: [flow('rare', 12, 12), flow('busy', 1_000, 200)] }
    expect(decideSentence(live, reading)).toMatchObject({ kind: 'failing', type: 'busy' })
  })

  it('does not call a type failing on a handful of attempts, nor exactly at the threshold', () => {
    expect(decideSentence(live, { ...healthy, flow: [flow('few', 9, 9)] }).kind).toBe('well')
    expect(decideSentence(live, { ...healthy, flow: [flow('edge', 100, 10)] }).kind).toBe('well')
  })

  it('takes some retries for daily life, and many for trouble', () => {
    const retried = (retried5m: number): QueueReading => ({
      ...healthy,
      flow: [{ ...flow('flaky', 100, 0), retried5m }]
    })
    expect(decideSentence(live, retried(20)).kind).toBe('well')
    expect(decideSentence(live, retried(30))).toMatchObject({ kind: 'retrying', failureRate: 0, againRate: 0.3 })
  })

  it('names the task that waits longer than five minutes', () => {
    const oldest = [
      { type: 'mail.send', taskId: '7', ageMs: 20_000 },
      { type: 'export.csv', taskId: '8', ageMs: 300_001 }
    ]
    expect(decideSentence(live, { ...healthy, oldest })).toMatchObject({
      kind: 'oldest',
      type: 'export.csv',
      taskId: '8'
    })
  })

  it('says what fails for good, and what waits too long, before what is retried', () => {
    const retried = { ...flow('flaky', 1_000, 0), retried5m: 900 }
    const oldest = [{ type: 'export.csv', taskId: '8', ageMs: 300_001 }]
    expect(decideSentence(live, { ...healthy, flow: [retried, flow('bad', 20, 3)] })).toMatchObject({ type: 'bad' })
    expect(decideSentence(live, { ...healthy, flow: [retried], oldest }).kind).toBe('oldest')
  })

  it('does not call a queue well that falls behind', () => {
    const depth: QueueReading['depth'] = [{ type: 'mail', state: 'QUEUED', count: 299 }]
    const rush = { ...flow('mail', 3, 0), submitted1m: 302, finished1m: 3 }
    expect(decideSentence(live, { ...healthy, depth, oldest: [], flow: [rush] })).toMatchObject({
      kind: 'growing',
      waiting: 299
    })
    const busy = { ...rush, submitted1m: 120, finished1m: 100 }
    expect(decideSentence(live, { ...healthy, depth, oldest: [], flow: [busy] }).kind).toBe('well')
  })

  it('says that all is well while work flows', () => {
    expect(decideSentence(live, healthy).kind).toBe('well')
  })
})

describe('an incident', () => {
  const alerts = new DemoAlerts('clinic-main', () => now, { trouble: true, past: false })
  const state = alerts.state()

  it('says since when the trouble lasts and what else fires, while the reading says what and where', () => {
    const { sentence, alert } = decide(live, failing, state)
    expect(sentence).toMatchObject({ kind: 'failing', type: 'import.medical' })
    expect(alert?.firing).toMatchObject({ signal: 'failureRate', firedAt: now - 17 * 60_000 })
    expect(alert?.others.map(({ signal }) => signal)).toEqual(['oldestMs', 'workersSilent'])
  })

  it('is the sentence when the newest reading alone would say that all is well', () => {
    expect(decide(live, healthy, state).sentence).toMatchObject({ kind: 'alert', signal: 'failureRate', above: 0.1 })
  })

  it('lends its since and its acknowledgement to no other trouble', () => {
    const oldest = [{ type: 'mail.send', taskId: '7', ageMs: 400_000 }]
    const silentRule = state.open[0]!.firings.filter(({ signal }) => signal === 'workersSilent')
    const other = { ...state, open: [{ ...state.open[0]!, firings: silentRule }] }
    expect(decide(live, { ...healthy, oldest }, other)).toMatchObject({ sentence: { kind: 'oldest' }, isSame: false })
    expect(decide(live, { ...healthy, oldest }, state)).toMatchObject({
      isSame: true,
      alert: { firing: { signal: 'oldestMs' } }
    })
    expect(decide(live, { ...healthy, workers: [] }, other)).toMatchObject({
      sentence: { kind: 'noWorkers' },
      isSame: true
    })
  })

  it('comes before what is only retried', () => {
    const reading = { ...healthy, flow: [{ ...flow('flaky', 1_000, 0), retried5m: 900 }] }
    expect(decide(live, reading, state).sentence.kind).toBe('alert')
  })

  it('says nothing while it is pending, silent or over, and nothing of an old picture', () => {
    const firings = state.open[0]!.firings
    const quiet = firings.map((one) => ({ ...one, silenced: true }))
    for (const changed of [
      firings.map((one) => ({ ...one, firedAt: null })),
      firings.map((one) => ({ ...one, resolvedAt: now })),
      quiet
    ]) {
      const open = [{ ...state.open[0]!, firings: changed }]
      expect(decide(live, healthy, { ...state, open }).sentence.kind).toBe('well')
    }
    const lost: LinkState = { status: 'lost', since: now, nextTryAt: now, failures: 1, problem: refused }
    expect(decide(lost, failing, state).alert).toBeNull()
  })

  it('of a rule that is silenced is told to nobody, and what it is about stays worth a look', () => {
    const silenced = state.rules.map((view) => ({ ...view, silencedUntil: now + 3_600_000 }))
    const hushed = decide(live, failing, { ...state, rules: silenced })
    expect(hushed).toMatchObject({ sentence: { kind: 'failing' }, alert: null, silencedUntil: now + 3_600_000 })
    expect(toneOf(hushed)).toBe('warn')
    expect(toneOf(decide(live, failing, state))).toBe('bad')
    expect(decide(live, healthy, { ...state, rules: silenced }).sentence.kind).toBe('well')
  })

  it('does not hide what else is wrong', () => {
    const oldest = [{ type: 'video', taskId: '7', ageMs: 3_600_000 }]
    expect(decide(live, { ...failing, oldest }).beside).toMatchObject({ kind: 'oldest', type: 'video' })
    expect(decide(live, { ...failing, oldest: [] }).beside).toBeNull()
  })

  it('comes after one that nobody has taken', () => {
    const taken = { ...state.open[0]!, acknowledged: { at: now, by: 'ada', note: '' } }
    const [firing] = taken.firings
    const other = { ...taken, id: 'other', acknowledged: null, firings: [{ ...firing!, signal: 'claimP95' as const }] }
    expect(decide(live, healthy, { ...state, open: [taken, other] }).alert?.incident.id).toBe('other')
  })

  it('has the thresholds of the rules', () => {
    const oldest = [{ type: 'mail.send', taskId: '7', ageMs: 400_000 }]
    const waiting = { ...healthy, oldest }
    expect(decide(live, waiting, { ...state, open: [] }).sentence.kind).toBe('oldest')
    const rules = state.rules.map((one) => ({ ...one, rule: { ...one.rule, above: 500_000 } }))
    expect(decide(live, waiting, { ...state, open: [], rules }).sentence.kind).toBe('well')
  })
})

describe('what the cost guard held back', () => {
  it('is neither quiet nor zero, and no missing worker', () => {
    const limit = (probe: string) => ({ probe, reason: 'budget' as const, index: null })
    expect(decideSentence(live, { ...empty, limits: [limit('submitted')] })).toMatchObject({ kind: 'well', in1m: null })
    expect(decideSentence(live, { ...healthy, workers: [], limits: [limit('workers')] }).kind).toBe('well')
  })
})

describe('drainOf', () => {
  it('tells growing from draining, and neither from noise', () => {
    expect(drainOf({ waiting: 100, in1m: 50, out1m: 100 })).toEqual({ kind: 'drains', ms: 120_000 })
    expect(drainOf({ waiting: 100, in1m: 100, out1m: 50 })).toEqual({ kind: 'grows', perMinute: 50 })
    expect(drainOf({ waiting: 100, in1m: 1_000, out1m: 995 }).kind).toBe('steady')
    expect(drainOf({ waiting: 0, in1m: 5, out1m: 0 }).kind).toBe('empty')
  })
})

describe('aboveSince', () => {
  it('finds the start of the newest run above the limit, across unknown time', () => {
    expect(aboveSince([1, 2, 3, 4, 5], [9, 1, 8, null, 9], 5)).toEqual({ at: 3, isEarlier: false })
    expect(aboveSince([1, 2, 3], [null, 8, 9], 5)).toEqual({ at: 2, isEarlier: true })
    expect(aboveSince([1, 2], [9, 1], 5)).toBeNull()
    expect(aboveSince([1, 2], [null, null], 5)).toBeNull()
  })

  it('tells since when what the sentence says has been seen', () => {
    const values = new Map([
      [seriesKey('failureRate', 'mail'), [0, 0.5, 0.6]],
      [seriesKey('workersAlive'), [2, 0, null]]
    ])
    const ring = { connectionId: 'c', rangeMs: 9, stepMs: 1, seq: 1, times: [1, 2, 3], values }
    const seen = (sentence: Sentence, alert: OpenAlert | null = null) =>
      seenSince(
        { sentence, alert, isSame: alert !== null, beside: null, silencedUntil: null },
        { reading: { at: 700_000 }, ring, limitsOf: limitsBy([]) }
      )
    const failing = { kind: 'failing', type: 'mail', failureRate: 0.6, againRate: 0 } as const
    expect(seen(failing)).toEqual({ at: 2, isEarlier: false })
    expect(seen({ ...failing, type: 'other' })).toBeNull()
    expect(seen({ kind: 'noWorkers', waiting: 3 })).toEqual({ at: 2, isEarlier: false })
    expect(seen({ kind: 'quiet' })).toBeNull()
    // An age tells it, also of the time before anybody looked.
    const oldest = { kind: 'oldest', type: 'mail', taskId: '7', ageMs: 500_000 } as const
    expect(seen(oldest)).toEqual({ at: 500_000, isEarlier: false })
    const [incident] = new DemoAlerts('clinic-main', () => now, { trouble: true, past: false }).state().open
    const firing = {
      ...incident!.firings[0]!,
      signal: 'oldestMs' as const,
      value: 500_000,
      above: 300_000,
      since: 690_000
    }
    expect(seen(oldest, { incident: incident!, firing, others: [] })?.at).toBe(500_000)
    const rate = { ...firing, signal: 'failureRate' as const, value: 0.5, above: 0.1 }
    expect(seen(failing, { incident: incident!, firing: rate, others: [] })?.at).toBe(690_000)
  })
})
