import { describe, expect, it } from 'vitest'
import type { TaskState } from '../../src-main/kernel/index.ts'
import { check, eventsOf } from './checker.ts'
import { toHistory, type HistoryLine, type ShortFence } from './client-history.ts'
import type { Evidence, FinalTask, WitnessEvent } from './evidence.ts'

type Attempts = readonly [before: number, after: number]

const event = (
  seq: number,
  from: TaskState | null,
  to: TaskState,
  account: string,
  [attemptBefore, attemptAfter]: Attempts,
  more: Partial<WitnessEvent> = {}
): WitnessEvent => ({
  seq,
  atMs: 100_000 + seq,
  taskId: '1',
  type: 't',
  owner: 'o',
  from,
  to,
  attemptBefore,
  attemptAfter,
  attemptsUsed: attemptAfter,
  workerBefore: null,
  workerAfter: null,
  account,
  leaseExpired: false,
  leaseOverMs: null,
  dueInMs: -5,
  nextDueInMs: to === 'RETRY_WAIT' ? 100 : -5,
  leaseMs: to === 'RUNNING' ? 3_000 : null,
  ...more
})

const final = (state: TaskState, attempt: number, more: Partial<FinalTask> = {}): FinalTask => ({
  state,
  attempt,
  attemptsUsed: attempt,
  maxAttempts: 5,
  retryPolicy: { kind: 'list', delaysMs: [100] },
  title: 'n1',
  type: 't',
  deadLetters: { all: 0, open: 0 },
  ...more
})

const lines: readonly HistoryLine[] = [
  { op: 'claim', account: 'w1', fences: [['1', 1]] },
  { op: 'claim', account: 'w2', fences: [['1', 2]] },
  { op: 'settle', account: 'w2', pid: 1, call: 1, asked: [{ fence: ['1', 2], outcome: 'SUCCESS' }] },
  { op: 'settled', account: 'w2', pid: 1, call: 1, states: ['SUCCESS'] }
]

/** Claimed by w1, which died; recovered by w2 and claimed and ended by it. */
const sound: Evidence = {
  submitted: ['1'],
  final: new Map([['1', final('SUCCESS', 2)]]),
  events: [
    event(1, null, 'QUEUED', 'main', [0, 0]),
    event(2, 'QUEUED', 'RUNNING', 'w1', [0, 1]),
    event(3, 'RUNNING', 'RETRY_WAIT', 'w2', [1, 1], { leaseExpired: true, leaseOverMs: 40 }),
    event(4, 'RETRY_WAIT', 'RUNNING', 'w2', [1, 2]),
    event(5, 'RUNNING', 'SUCCESS', 'w2', [2, 2])
  ],
  attempts: [
    { taskId: '1', attempt: 1, outcome: 'LEASE_EXPIRED' },
    { taskId: '1', attempt: 2, outcome: 'SUCCESS' }
  ],
  effects: { types: ['t'], rows: [{ title: 'n1', calls: 2 }] },
  history: toHistory(lines),
  leaseMs: 3_000,
  operators: ['main']
}
const rules = (evidence: Evidence): string[] => [...new Set(check(evidence).violations.map((v) => v.rule))]
const withEvent = (seq: number, changed: WitnessEvent | Partial<WitnessEvent>): Evidence => ({
  ...sound,
  events: sound.events.map((one) => (one.seq === seq ? { ...one, ...changed } : one))
})
const effectsOf = (...titles: string[]): Evidence['effects'] => ({
  types: ['t'],
  rows: titles.map((title) => ({ title, calls: 1 }))
})
const withFinal = (task: FinalTask): Evidence => ({ ...sound, final: new Map([['1', task]]) })
const oneLetter = { deadLetters: { all: 1, open: 1 } }
/** The last attempt of the sound run failed instead. */
const died = (task: FinalTask): Evidence => ({
  ...withFinal(task),
  events: withEvent(5, { to: 'FAILED' }).events,
  history: toHistory([
    ...lines.slice(0, 2),
    { op: 'settle', account: 'w2', pid: 1, call: 1, asked: [{ fence: ['1', 2], outcome: 'FAILED' }] }
  ])
})
const withLines = (...more: HistoryLine[]): Evidence => ({ ...sound, history: toHistory([...lines, ...more]) })
const settled = (account: string, attempt: number, state: string | null, call = 9): HistoryLine[] => [
  { op: 'settle', account, pid: 1, call, asked: [{ fence: ['1', attempt], outcome: 'SUCCESS' }] },
  { op: 'settled', account, pid: 1, call, states: [state] }
]

it('finds nothing in a sound run', () => {
  expect(check(sound)).toEqual({ claims: 2, recoveredAfterMs: [40], most: {}, violations: [] })
})

describe('the checker finds', () => {
  it('a completion by a stale holder', () => {
    expect(rules({ ...withEvent(5, { account: 'w1' }), history: toHistory(lines.slice(0, 2)) })).toEqual(['I4'])
  })

  it('a success that a recovery would excuse', () => {
    expect(
      rules({ ...withEvent(5, { account: 'w1', leaseExpired: true }), history: toHistory(lines.slice(0, 2)) })
    ).toEqual(['I4'])
  })

  it('a recovery before the lease ran out', () => {
    expect(rules(withEvent(3, { leaseExpired: false }))).toEqual(['I4'])
  })

  it('a renewal, progress or checkpoint by another process than the holder', () => {
    const touch = event(3, 'RUNNING', 'RUNNING', 'w9', [1, 1], { workerBefore: 'w1' })
    const [first, second, ...rest] = sound.events
    expect(rules({ ...sound, events: [first!, second!, touch, ...rest] })).toEqual(['I4'])
    expect(rules({ ...sound, events: [first!, second!, { ...touch, account: 'main' }, ...rest] })).toEqual([])
  })

  it('a claim of a leased task, and of a task twice by one process', () => {
    const events = [
      ...sound.events.slice(0, 2),
      event(3, 'RUNNING', 'RUNNING', 'w2', [1, 2]),
      event(4, 'RUNNING', 'SUCCESS', 'w2', [2, 2])
    ]
    expect(rules({ ...sound, events })).toEqual(['I3'])
    const again = events.map((one) => ({ ...one, account: one.seq === 1 ? 'main' : 'w2' }))
    expect(rules({ ...sound, events: again, history: toHistory(lines.slice(1)) })).toEqual(['I3'])
  })

  it('a lease of another length than the database was to give', () => {
    expect(rules(withEvent(4, { leaseMs: 3_600_000 }))).toEqual(['I3'])
  })

  it('a lost task, a stuck task, and rows that nobody or one submission too few made', () => {
    expect(rules({ ...sound, submitted: ['1', '2'] })).toEqual(['I1'])
    expect(rules(withFinal(final('RUNNING', 2)))).toEqual(['I2'])
    const stray = new Map([...sound.final, ['9', final('SUCCESS', 0, { title: 'n9' })] as const])
    const effects = effectsOf('n1', 'n9')
    expect(rules({ ...sound, final: stray, effects })).toEqual(['I1'])
    expect(rules({ ...sound, final: stray, effects, unknown: ['n9'] })).toEqual([])
    const twice = new Map([...stray, ['10', final('SUCCESS', 0, { title: 'n9' })] as const])
    expect(rules({ ...sound, final: twice, effects, unknown: ['n9'] })).toContain('I1')
  })

  it('a recovery that comes late, without the time in which nobody could recover anything', () => {
    const late = withEvent(3, { leaseOverMs: 5_000, atMs: 100_000 })
    const outage = { fromMs: 90_000, toMs: 97_000 }
    expect(rules({ ...late, recovery: { withinMs: 3_000, outages: [] } })).toEqual(['I2'])
    expect(rules({ ...late, recovery: { withinMs: 3_000, outages: [outage] } })).toEqual([])
  })

  it('a missing and a doubled attempt row', () => {
    expect(rules({ ...sound, attempts: sound.attempts.slice(1) })).toEqual(['I5'])
    expect(rules({ ...sound, attempts: [...sound.attempts, { taskId: '1', attempt: 2, outcome: 'SUCCESS' }] })).toEqual(
      ['I5']
    )
  })

  it('a claim that was not counted', () => {
    expect(rules(withFinal(final('SUCCESS', 1)))).toEqual(['I5'])
  })

  it('a task that died with attempts left, and one that was not to die', () => {
    expect(rules(died(final('FAILED', 2, oneLetter)))).toEqual(['I5'])
    expect(rules(died(final('FAILED', 2, { ...oneLetter, maxAttempts: 2 })))).toEqual(['I2'])
    expect(rules({ ...died(final('FAILED', 2, oneLetter)), expected: new Map([['n1', ['FAILED']]]) })).toEqual([])
  })

  it('a death without its letter, a letter without a death, and one that stayed open', () => {
    const dead = { ...died(final('FAILED', 2)), expected: new Map([['n1', ['FAILED' as const]]]) }
    expect(rules(dead)).toEqual(['dead letter'])
    expect(rules(withFinal(final('SUCCESS', 2, oneLetter)))).toEqual(['dead letter'])
    const resolved = final('FAILED', 2, { deadLetters: { all: 1, open: 0 } })
    expect(rules({ ...dead, final: new Map([['1', resolved]]) })).toEqual(['dead letter'])
  })

  it('a tick that made two tasks', () => {
    expect(rules({ ...sound, scheduled: { title: 'tick', tasks: 3, ticks: 3 } })).toEqual([])
    expect(rules({ ...sound, scheduled: { title: 'tick', tasks: 3, ticks: 2 } })).toEqual(['F11'])
  })

  it('one unfinished task more than a quota allows', () => {
    const second = event(2, null, 'QUEUED', 'main', [0, 0], { taskId: '2' })
    const limited = (events: readonly WitnessEvent[]): string[] =>
      rules({ ...sound, events, limits: { unfinished: { t: 1 } } })
    const [created, ...rest] = sound.events
    expect(limited([created!, second, ...rest])).toContain('I7')
    expect(limited([created!, ...rest, { ...second, seq: 6 }])).not.toContain('I7')
    const retried = event(6, 'SUCCESS', 'QUEUED', 'main', [2, 2])
    expect(limited([created!, ...rest, retried])).not.toContain('I7')
    expect(limited([created!, ...rest, retried, { ...second, seq: 7 }])).toContain('I7')
  })

  it('a success without its effect, an effect of no task, and two effects of one task', () => {
    expect(rules({ ...sound, effects: effectsOf() })).toEqual(['I6'])
    expect(rules({ ...sound, effects: effectsOf('n1', 'n7') })).toEqual(['I6'])
    expect(rules({ ...sound, effects: effectsOf('n1', 'n1') })).toEqual(['I6'])
  })

  it('one live lease more than a limit allows', () => {
    const second = sound.events.slice(0, 2).map((one) => ({ ...one, seq: one.seq + 10, taskId: '2', account: 'w1' }))
    const [created, claimed, ...rest] = sound.events
    const evidence = { ...sound, submitted: ['1', '2'], events: [created!, claimed!, ...second, ...rest] }
    const ends = new Map([...sound.final, ['2', final('RUNNING', 1)] as const])
    const atMost = (limits: Evidence['limits']): string[] => rules({ ...evidence, final: ends, limits })
    expect(atMost({ types: { t: 2 }, owners: { o: 2 }, queue: 2 })).not.toContain('I7')
    expect(atMost({ types: { t: 1 } })).toContain('I7')
    expect(atMost({ owners: { o: 1 } })).toContain('I7')
    expect(atMost({ queue: 1 })).toContain('I7')
  })

  it('one claim more than a rate allows in a window, wherever that begins', () => {
    const [created, first, recovered, second, ended] = sound.events
    const claimedAt = (periodMs: number, count: number, ...times: readonly number[]): string[] => {
      const claims = [first, second].map((one, index) => ({ ...one!, atMs: times[index]! }))
      const events = [created!, claims[0]!, recovered!, claims[1]!, ended!]
      return rules({ ...sound, events, limits: { rates: { t: { count, periodMs } } } })
    }
    expect(claimedAt(500, 1, 1_000, 1_499)).toEqual(['I7'])
    expect(claimedAt(500, 1, 1_000, 1_500)).toEqual([])
    expect(claimedAt(500, 2, 1_000, 1_499)).toEqual([])
  })

  it('an early start and a retry outside of its policy', () => {
    expect(rules(withEvent(2, { dueInMs: 1 }))).toEqual(['I9'])
    expect(rules(withEvent(3, { nextDueInMs: 99 }))).toEqual([])
    expect(rules(withEvent(3, { nextDueInMs: 5_000 }))).toEqual(['I9'])
    expect(rules(withEvent(3, { nextDueInMs: -50 }))).toEqual(['I9'])
    const jitter = { kind: 'exponential', baseMs: 50, capMs: 400, jitter: 0.2 } as const
    const jittered = { ...withFinal(final('SUCCESS', 2, { retryPolicy: jitter })) }
    expect(rules(jittered)).toEqual([])
    expect(rules({ ...jittered, events: withEvent(3, { nextDueInMs: 40 }).events })).toEqual(['I9'])
  })

  it('an illegal change and a task that left its end', () => {
    const events = [...sound.events, event(6, 'SUCCESS', 'RETRY_WAIT', 'w2', [2, 2])]
    expect(rules({ ...sound, events })).toEqual(['transition', 'I8'])
  })

  it('a task that a worker took out of its end, as an operator may', () => {
    const again = (account: string): Evidence => {
      const failed = died(final('QUEUED', 2, { deadLetters: { all: 1, open: 0 } }))
      return { ...failed, events: [...failed.events, event(6, 'FAILED', 'QUEUED', account, [2, 2])] }
    }
    expect(rules(again('w2'))).toContain('I8')
    expect(rules(again('main'))).not.toContain('I8')
  })
})

describe('the checker finds in what the processes were told', () => {
  it('an acceptance of an attempt that another one ended, or that never ended', () => {
    expect(rules(withLines(...settled('w1', 1, 'SUCCESS')))).toEqual(['I4'])
    expect(rules(withLines(...settled('w1', 3, 'SUCCESS')))).toEqual(['I4'])
    expect(rules(withLines(...settled('w1', 1, null)))).toEqual([])
  })

  it('nothing in a call whose answer is unknown', () => {
    expect(rules(withLines(...settled('w1', 1, 'SUCCESS').slice(0, 1)))).toEqual([])
  })

  it('an end that nobody asked for', () => {
    expect(rules({ ...sound, history: toHistory(lines.slice(0, 2)) })).toEqual(['I4'])
  })

  it('a claim that was handed out and not made', () => {
    expect(rules(withLines({ op: 'claim', account: 'w3', fences: [['1', 2]] }))).toEqual(['I3'])
    expect(rules(withLines({ op: 'claim', account: 'w3', fences: [['1', 3]] }))).toEqual(['I3'])
  })

  it('a refusal that turned into an acceptance, and a claim after the signal to stop', () => {
    const fence: ShortFence = ['1', 2]
    const repeat = { op: 'repeat', account: 'w2', fence } as const
    expect(rules(withLines({ ...repeat, first: 'SUCCESS', again: null }))).toEqual([])
    expect(rules(withLines({ ...repeat, first: null, again: 'SUCCESS' }))).toEqual(['F11'])
    expect(rules(withLines({ op: 'late-claim', account: 'w2' }))).toEqual(['F18'])
  })
})

it('tells how full each limit was', () => {
  const limits = { queue: 3, rates: { t: { count: 5, periodMs: 1_000 } }, unfinished: { t: 4 } }
  const most = { 'the queue': 1, 'claims of t in 1000 ms': 2, 'unfinished t': 1 }
  expect(check({ ...sound, limits }).most).toEqual(most)
})

it('shows of a violation the events of its task', () => {
  const evidence = withEvent(3, { leaseExpired: false })
  const [violation] = check(evidence).violations
  expect(eventsOf(violation!, evidence)).toHaveLength(5)
  expect(eventsOf(violation!, evidence)[2]).toBe('#3 RUNNING>RETRY_WAIT attempt 1>1 by w2')
})
