import { describe, expect, it } from 'vitest'
import type { AlertRuleView, AlertState } from '../../contract/index.ts'
import type { AlertSignal, QueueReading } from '../../kernel/index.ts'
import { emptyReading, liveWorker } from '../../kernel/reading.fixture.ts'
import { pointsOf } from '../../monitoring/index.ts'
import { judgeByDefaults } from './judge-by-defaults.ts'
import { connectionView } from './outside.fixture.ts'
import { reportOfSeen, statusReport, type StatusReport } from './status-report.ts'
import { statusExitCodes } from './status-command.ts'
import { duration, textOf } from './status-text.ts'

const noAlerts: AlertState = { connectionId: 'orders', rules: [], open: [], silences: [] }

function report(reading: QueueReading | null, alerts?: AlertState, changes = {}): StatusReport {
  const view = connectionView(changes)
  const tick = reading ? { connectionId: view.id, seq: 1, reading, points: pointsOf(reading) } : undefined
  const made = reportOfSeen({ view, tick, ageMs: reading ? 1_500 : null, alerts }, '1.2.3', judgeByDefaults)
  // What crosses the socket is read back by this.
  return statusReport.parse(JSON.parse(JSON.stringify(made)))
}

const late = emptyReading({
  depth: [
    { type: 'mail', state: 'QUEUED', count: 50_000, accuracy: 'atLeast' },
    { type: 'mail', state: 'RUNNING', count: 2 }
  ],
  oldest: [{ type: 'mail', taskId: '7', ageMs: 725_000 }],
  workers: [liveWorker()]
})

const firing = (changes: object = {}) => ({
  ...{ id: 'f', ruleId: 'r', signal: 'oldestMs' as const, type: '', above: 300_000, since: 5_000 },
  ...{ firedAt: 65_000, resolvedAt: null, peak: 800_000, value: 725_000, silenced: false },
  ...changes
})
/** The default rule of a figure, as it is now. */
const ruleView = (now: object, above = 300_000, signal: AlertSignal = 'oldestMs'): AlertRuleView => ({
  ...{ standard: null, state: 'quiet', since: null, value: null, silencedUntil: null, fired7d: 0, ...now },
  rule: {
    ...{ id: `default-${signal}`, connectionId: 'orders', isDefault: true, signal, type: '', above, clearAt: 0 },
    ...{ forMs: 60_000, clearForMs: 60_000, repeatMs: null, enabled: true }
  }
})
const incidentOf = (...firings: ReturnType<typeof firing>[]): AlertState => ({
  ...noAlerts,
  open: [{ id: 'i', connectionId: 'orders', openedAt: 5_000, resolvedAt: null, acknowledged: null, firings }]
})

describe('the verdict', () => {
  it('is a warning while the Overview names what no rule fires for yet, with what is wrong', () => {
    const rule = ruleView({ state: 'pending', since: 5_000, value: 725_000 })
    const made = report(late, { ...noAlerts, rules: [rule] })
    expect(made).toMatchObject({
      verdict: 'warning',
      judgedBy: 'rules',
      unknown: null,
      troubles: [],
      named: { kind: 'oldest', type: 'mail', ageMs: 725_000, taskId: '7' },
      pending: [{ signal: 'oldestMs', value: 725_000, above: 300_000, since: 5_000, forMs: 60_000, silenced: false }]
    })
    expect(statusExitCodes[made.verdict]).toBe(0)
    expect(textOf(made)).toMatch(
      /no alert, but look\n  mail: task 7 has waited 12 min 5 s\n  oldest waiting 12 min 5 s, threshold 5 min 0 s since [^;]*; an alert after 1 min 0 s of it\n/
    )
  })

  it('is a warning for what no rule is about at all', () => {
    const idle = emptyReading({ depth: [{ type: 'mail', state: 'QUEUED', count: 3 }] })
    expect(report(idle, noAlerts)).toMatchObject({ verdict: 'warning', named: { kind: 'noWorkers', waiting: 3 } })
  })

  it('has the thresholds of the rules, and is that all is well below them', () => {
    expect(report(late, { ...noAlerts, rules: [ruleView({}, 900_000)] })).toMatchObject({
      ...{ verdict: 'well', named: null, pending: [] }
    })
  })

  it('takes no account of figures that are above their thresholds every day, until they fire', () => {
    const full = ruleView({ state: 'pending', since: 1, value: 1 }, 0.9, 'poolUse')
    expect(report(emptyReading(), { ...noAlerts, rules: [full] })).toMatchObject({ verdict: 'well', pending: [] })
  })

  it('cannot be told for want of a figure, and says what it knows all the same', () => {
    const limits = [{ probe: 'workers', reason: 'timeout' as const, index: null }]
    expect(report({ ...late, limits }, noAlerts)).toMatchObject({ verdict: 'unknown', named: { kind: 'oldest' } })
  })

  it('is trouble while a rule fires, with its value, threshold and beginning', () => {
    expect(report(late, incidentOf(firing()))).toMatchObject({
      verdict: 'trouble',
      judgedBy: 'rules',
      // Its age tells since when.
      troubles: [{ signal: 'oldestMs', value: 725_000, above: 300_000, since: -325_000, silenced: false }]
    })
  })

  it('takes no account of what has resolved or is silenced, and shows the silenced', () => {
    const open = incidentOf(firing({ resolvedAt: 9 }), firing({ firedAt: null }), firing({ silenced: true }))
    expect(report(late, open)).toMatchObject({ verdict: 'well', troubles: [{ silenced: true }] })
  })

  it('takes no account of what was silenced after it fired', () => {
    const rule = ruleView({ state: 'firing', silencedUntil: 9_000_000 })
    const alerts = { ...incidentOf(firing({ ruleId: rule.rule.id })), rules: [rule] }
    expect(report(late, alerts)).toMatchObject({ verdict: 'well', troubles: [{ silenced: true }] })
    expect(report(late, { ...alerts, rules: [ruleView({ state: 'firing' })] }).verdict).toBe('trouble')
  })

  it('says of a rule that is below its threshold again that it is not over yet', () => {
    const ending = report(late, incidentOf(firing({ value: 1_000 })))
    expect(textOf(ending)).toContain(
      'oldest waiting 1 s, threshold 5 min 0 s since 1970-01-01T00:00:05.000Z; below it again, not over yet'
    )
    expect(textOf(report(late, incidentOf(firing())))).not.toContain('below it again')
  })

  it('without rules is that of the default thresholds', () => {
    expect(report(late)).toMatchObject({
      verdict: 'trouble',
      judgedBy: 'defaults',
      troubles: [{ signal: 'oldestMs', value: 725_000, above: 300_000, since: null }]
    })
    const silent = emptyReading({ workers: [liveWorker({ lastHeartbeatAt: 0 })] })
    expect(report(silent)).toMatchObject({ verdict: 'trouble', troubles: [{ signal: 'workersSilent', value: 1 }] })
    expect(report(emptyReading())).toMatchObject({ verdict: 'well', troubles: [] })
  })

  it('does not call a full pool trouble after a single look', () => {
    const full = emptyReading({
      depth: [{ type: 'mail', state: 'RUNNING', count: 4 }],
      workers: [liveWorker({ slots: 4, running: 4, queued: 4 })]
    })
    expect(report(full).verdict).toBe('well')
  })

  it.each([
    [
      'lost',
      {
        status: 'lost',
        since: 1,
        nextTryAt: 2,
        failures: 3,
        problem: { code: 'HOST_UNKNOWN', kind: 'operational', message: 'No such host.', details: {} }
      },
      'HOST_UNKNOWN: No such host.'
    ],
    ['without its tables', { status: 'schema', schema: 'missing', version: 0, latest: 1 }, 'tables missing'],
    ['without its password', { status: 'locked', problem: null }, 'no password'],
    ['connecting', { status: 'connecting' }, 'connecting']
  ])('is unknown for a link that is %s, though there are older figures', (_how, link, why) => {
    const made = report(late, noAlerts, { link })
    expect(made).toMatchObject({ verdict: 'unknown', readingAt: null, depth: [] })
    expect(made.unknown).toContain(why)
    expect(Object.values(made.figures).filter((value) => value !== null)).toEqual([])
  })

  it('is unknown when a figure that it needs was held back', () => {
    const view = connectionView()
    const reading = emptyReading({ limits: [{ probe: 'oldest', reason: 'timeout', index: null }] })
    const points = pointsOf(reading).filter(({ metric }) => metric !== 'oldestMs')
    const tick = { connectionId: view.id, seq: 1, reading, points }
    const made = reportOfSeen({ view, tick, ageMs: 0, alerts: noAlerts }, '1', judgeByDefaults)
    expect(made).toMatchObject({ verdict: 'unknown', figures: { oldestMs: null } })
    expect(made.unknown).toContain('oldestMs')
    expect(made.unknown).toContain('oldest (timeout)')
  })
})

describe('a table that does not say', () => {
  const schema = (probe: string, why: string) => ({ probe, reason: 'schema' as const, index: null, why })

  it('which workers live is well without them, and says so', () => {
    const made = report(emptyReading({ limits: [schema('workers', 'no word of workers')] }))
    expect(made).toMatchObject({ verdict: 'well', figures: { workersAlive: null, depth: 0 } })
    expect(textOf(made)).toContain('workers    unknown alive of unknown\n')
    expect(textOf(made)).toContain('unknown: workers (no word of workers)\n')
  })

  it('since when tasks wait cannot be called well', () => {
    const made = report(emptyReading({ limits: [schema('workers', 'none'), schema('oldest', 'no column')] }))
    expect(made).toMatchObject({ verdict: 'unknown', unknown: 'Not known: oldestMs. Held back: oldest (schema).' })
  })
})

describe('the text', () => {
  it('says what is wrong first, then the figures with how sure they are', () => {
    expect(textOf(report(late))).toBe(
      [
        'Orders (production, MariaDB 10.11.19): something is wrong',
        '  oldest waiting 12 min 5 s, threshold 5 min 0 s',
        '  mail: task 7 has waited 12 min 5 s',
        'depth      at least 50002: QUEUED at least 50000, RUNNING 2',
        'oldest     12 min 5 s',
        'in, out    0, 0 a minute',
        'failures   unknown, retries unknown (5 min)',
        'workers    1 alive of 1',
        '  mail: QUEUED at least 50000, RUNNING 2, oldest 12 min 5 s',
        'read by the running Taskdeck, 1.5 s ago; judged by the default thresholds',
        ''
      ].join('\n')
    )
  })

  it('repaints no terminal with what a queue is called', () => {
    expect(textOf(report(late, noAlerts, { name: 'x\u001b[2Jy' }))).not.toContain('\u001b')
  })

  it.each([
    [0, '0 ms'],
    [999, '999 ms'],
    [12_540, '12.5 s'],
    [59_999, '60 s'],
    [303_000, '5 min 3 s'],
    [7_800_000, '2 h 10 min']
  ])('writes %d ms as %s', (ms, text) => expect(duration(ms)).toBe(text))
})
