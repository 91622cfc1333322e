import { describe, expect, it } from 'vitest'
import type { AlertState, ConnectionView, Firing, LinkState, QueueReading } from '@contract'
import { readingAt } from '@/testing/demo-queue.ts'
import { makeScene, refused } from '@/testing/scenes.ts'
import { fleetRow, worstFirst, type FleetRow } from './fleet-rows.ts'

const now = 1_770_000_000_000
const scene = makeScene('failing', now)
const main = scene.connections.find((one) => one.id === 'clinic-main')!
const failing = readingAt(scene.queues['clinic-main']!, now)
const healthy = readingAt(makeScene('healthy', now).queues['clinic-main']!, now)
const live: LinkState = { status: 'live', lastReadingAt: now }
const lost: LinkState = { status: 'lost', since: now - 90_000, nextTryAt: now, failures: 3, problem: refused }

const firing: Firing = {
  id: 'f',
  ruleId: 'claimP95',
  signal: 'claimP95',
  type: '',
  above: 200,
  since: now - 300_000,
  firedAt: now - 60_000,
  resolvedAt: null,
  peak: 400,
  value: 320,
  silenced: false
}
const alertsWith = (firings: Firing[], acknowledged = false): AlertState => ({
  connectionId: main.id,
  rules: [],
  silences: [],
  open: [
    {
      id: 'i',
      connectionId: main.id,
      openedAt: now - 300_000,
      resolvedAt: null,
      acknowledged: acknowledged ? { at: now, by: 'ada', note: '' } : null,
      firings
    }
  ]
})
const row = (
  change: Partial<ConnectionView>,
  reading: QueueReading | null = healthy,
  more: { alerts?: AlertState; appAnswers?: boolean } = {}
): FleetRow =>
  fleetRow({
    connection: { ...main, link: live, ...change },
    reading,
    alerts: more.alerts,
    now,
    appAnswers: more.appAnswers ?? true
  })

describe('a connection in the fleet', () => {
  it('is well while work flows, and has the numbers of its reading', () => {
    expect(row({})).toMatchObject({ grade: 'well', health: 'ok', alive: 12, known: 12, stale: false, firing: null })
    expect(row({}).depth.value).toBeGreaterThan(0)
  })

  it('is bad when a type fails, and says which', () => {
    expect(row({}, failing)).toMatchObject({ grade: 'bad', cause: { kind: 'failing', type: 'import.medical' } })
  })

  it('is judged by its own rules, not by the usual thresholds', () => {
    const above = { oldestMs: 86_400_000, failureRate: 0.99 }
    const rules = (['oldestMs', 'failureRate'] as const).map((signal) => ({
      ...{ standard: null, state: 'quiet' as const, since: null, value: 0, silencedUntil: null, fired7d: 0 },
      rule: {
        ...{ id: signal, connectionId: main.id, isDefault: true, signal, type: '', above: above[signal], clearAt: 0 },
        ...{ forMs: 0, clearForMs: 0, repeatMs: null, enabled: true }
      }
    }))
    const alerts: AlertState = { ...alertsWith([]), open: [], rules }
    const usual = row({}, failing)
    expect(usual).toMatchObject({ grade: 'bad', oldestHigh: true, failureHigh: true })
    const set = row({}, failing, { alerts })
    expect(set).toMatchObject({ oldestHigh: false, failureHigh: false })
    expect(set.grade).not.toBe('bad')
  })

  it('that cannot be reached is bad whatever its last picture says, and keeps that picture', () => {
    const away = row({ link: lost }, failing)
    expect(away).toMatchObject({ grade: 'bad', health: 'lost', stale: true, cause: { kind: 'lost' } })
    expect(away.depth).toEqual(row({}, failing).depth)
  })

  it('that was never reached has no numbers, not zeros', () => {
    const never = row({ link: { status: 'connecting' } }, null)
    expect(never).toMatchObject({ grade: 'unknown', depth: { value: null }, oldestMs: null, alive: null, readAt: null })
  })

  it('is bad while an alert fires that its numbers alone do not tell', () => {
    const alerted = row({}, healthy, { alerts: alertsWith([firing]) })
    expect(alerted).toMatchObject({ grade: 'bad', firing: 1, cause: { kind: 'alert', signal: 'claimP95', value: 320 } })
  })

  it('is only worth a look while the rule about its trouble is silenced, and its alert is not counted', () => {
    const view = {
      ...{ standard: null, state: 'firing' as const, since: null, value: 0, silencedUntil: now + 60_000, fired7d: 1 },
      rule: {
        ...{ id: 'f', connectionId: main.id, isDefault: true, signal: 'failureRate' as const, type: '', above: 0.1 },
        ...{ clearAt: 0.05, forMs: 0, clearForMs: 0, repeatMs: null, enabled: true }
      }
    }
    const hushed = { ...firing, ruleId: 'f', signal: 'failureRate' as const, value: 0.5, above: 0.1 }
    const alerts: AlertState = { ...alertsWith([hushed]), rules: [view] }
    expect(row({}, failing, { alerts })).toMatchObject({ grade: 'look', firing: 0, cause: { kind: 'failing' } })
    expect(row({}, failing, { alerts: { ...alerts, rules: [{ ...view, silencedUntil: null }] } })).toMatchObject({
      grade: 'bad',
      firing: 1
    })
  })

  it('is no trouble for alerts that are pending or over', () => {
    const over = { ...firing, resolvedAt: now }
    const pending = { ...firing, firedAt: null }
    expect(row({}, healthy, { alerts: alertsWith([over, pending]) })).toMatchObject({ grade: 'well', firing: 0 })
  })

  it('is only worth a look once somebody has acknowledged its trouble', () => {
    expect(row({}, failing, { alerts: alertsWith([firing], true) })).toMatchObject({
      grade: 'look',
      acknowledged: true
    })
    expect(row({ link: lost }, failing, { alerts: alertsWith([firing], true) }).grade).toBe('bad')
  })

  it('has no zeros, and no false alarm, for what the cost guard held back', () => {
    const held = (probe: string): QueueReading['limits'][number] => ({ probe, reason: 'budget', index: null })
    const limits = ['depth', 'workers', 'submitted', 'finished'].map(held)
    const spare = row({}, { ...healthy, depth: [], workers: [], flow: [], limits })
    expect(spare).toMatchObject({ depth: { value: null }, alive: null, known: null, in1m: null, out1m: null })
    expect(spare.cause.kind).toBe('well')
    expect(row({}, { ...healthy, workers: [], limits: [held('workers')] }).grade).toBe('well')
    const cut = { ...healthy, depth: [{ ...healthy.depth[0]!, count: 50_000, accuracy: 'atLeast' as const }] }
    expect(row({}, cut).depth).toEqual({ value: 50_000, accuracy: 'atLeast' })
  })

  it('is late when the link lives and no reading comes', () => {
    const late = row({ link: { status: 'live', lastReadingAt: now - 46_000 } })
    const slow = row({ link: { status: 'live', lastReadingAt: now - 44_000 } })
    expect(slow).toMatchObject({ grade: 'well', stale: false })
    expect(late).toMatchObject({ grade: 'look', stale: true, cause: { kind: 'late', ageMs: 46_000 } })
  })

  it('is not known while the app does not answer', () => {
    expect(row({}, failing, { appAnswers: false })).toMatchObject({ grade: 'unknown', health: 'unknown', stale: true })
  })
})

describe('the order of the fleet', () => {
  const names = (rows: FleetRow[]): string[] => worstFirst(rows).map((one) => one.name)

  it('is worst first, and production before the rest', () => {
    expect(
      names([
        row({ name: 'well' }),
        row({ name: 'locked', link: { status: 'locked', problem: null } }),
        row({ name: 'local-failing', environment: 'local' }, failing),
        row({ name: 'staging-lost', environment: 'staging', link: lost }),
        row({ name: 'prod-failing' }, failing),
        row({ name: 'prod-lost', link: lost })
      ])
    ).toEqual(['prod-lost', 'prod-failing', 'staging-lost', 'local-failing', 'locked', 'well'])
  })

  it('has what fires before what may pass by itself', () => {
    const alerted = row({ name: 'firing' }, healthy, { alerts: alertsWith([firing]) })
    expect(names([row({ name: 'failing' }, failing), alerted])).toEqual(['firing', 'failing'])
  })

  it('does not follow numbers: rows stay where they are while these move', () => {
    const busier = { ...healthy, depth: healthy.depth.map((part) => ({ ...part, count: part.count * 9 })) }
    expect(names([row({ name: 'b' }, busier), row({ name: 'a' })])).toEqual(['a', 'b'])
    expect(names([row({ name: 'b' }), row({ name: 'a' }, busier)])).toEqual(['a', 'b'])
  })
})
