import { describe, expect, it } from 'vitest'
import type { AlertRule } from './alert.ts'
import { limitsBy, usualLimits } from './queue-limits.ts'
import { isAbout, numbersOf, queueTrouble, sayableRate } from './queue-trouble.ts'
import { emptyReading, liveWorker } from './reading.fixture.ts'
import type { TypeFlow } from './reading.ts'

const rule = (changes: Partial<AlertRule>): { rule: AlertRule } => ({
  rule: {
    ...{ id: 'r', connectionId: 'c', isDefault: false, signal: 'oldestMs', type: '', above: 1, clearAt: 0 },
    ...{ forMs: 0, clearForMs: 0, repeatMs: null, enabled: true },
    ...changes
  }
})
const flow = (type: string, ended5m: number, failed5m: number, retried5m = 0): TypeFlow => ({
  ...{ type, submitted1m: 1, finished1m: 1, ended5m, failed5m, retried5m, recovered5m: 0 },
  ...{ duration: null, pickup: null }
})
const workers = [liveWorker()]

describe('the limits of a connection', () => {
  it('are those of its rules: of the type, else of the queue, else the usual ones', () => {
    const limitsOf = limitsBy([
      rule({ above: 60_000 }),
      rule({ above: 900_000, type: 'slow' }),
      rule({ above: 5, type: 'off', enabled: false })
    ])
    expect(limitsOf('').oldestMs).toBe(60_000)
    expect(limitsOf('slow')).toEqual({ oldestMs: 900_000, failureRate: usualLimits.failureRate })
    expect(limitsOf('off').oldestMs).toBe(60_000)
    expect(limitsBy(undefined)('any')).toEqual(usualLimits)
  })
})

describe('what is wrong in a reading', () => {
  it('is judged by the limits of each type', () => {
    const reading = emptyReading({
      workers,
      oldest: [
        { type: 'slow', taskId: '1', ageMs: 800_000 },
        { type: 'mail', taskId: '2', ageMs: 400_000 }
      ]
    })
    expect(queueTrouble(reading, limitsBy([]))).toMatchObject({ kind: 'oldest', type: 'slow' })
    const limitsOf = limitsBy([rule({ above: 900_000, type: 'slow' })])
    expect(queueTrouble(reading, limitsOf)).toMatchObject({ kind: 'oldest', type: 'mail', taskId: '2' })
    expect(queueTrouble(reading, limitsBy([rule({ above: 900_000 })]))).toBeNull()
  })

  it('is what fails before what waits, and what waits before what is tried again', () => {
    const oldest = [{ type: 'mail', taskId: '2', ageMs: 400_000 }]
    const retrying = flow('mail', 100, 0, 60)
    const flows = [retrying, flow('import', 100, 20)]
    expect(queueTrouble(emptyReading({ workers, oldest, flow: flows }), limitsBy([]))?.kind).toBe('failing')
    expect(queueTrouble(emptyReading({ workers, oldest, flow: [retrying] }), limitsBy([]))?.kind).toBe('oldest')
    expect(queueTrouble(emptyReading({ workers, flow: [retrying] }), limitsBy([]))?.kind).toBe('retrying')
  })

  it('tells nothing of what is tried again where a table has no attempts', () => {
    const limits = [{ probe: 'retries', reason: 'schema' as const, index: null }]
    const of = (one: TypeFlow) => queueTrouble(emptyReading({ workers, flow: [one], limits }), limitsBy([]))
    expect(of(flow('mail', 100, 20))).toEqual({ kind: 'failing', type: 'mail', failureRate: 0.2, againRate: null })
    const lenient = limitsBy([rule({ signal: 'failureRate', above: 0.5 })])
    expect(queueTrouble(emptyReading({ workers, flow: [flow('mail', 100, 40)], limits }), lenient)).toBeNull()
    expect(queueTrouble(emptyReading({ workers, flow: [flow('mail', 100, 40)] }), lenient)?.kind).toBe('retrying')
  })

  it('is nothing while too few attempts ended to say so', () => {
    expect(queueTrouble(emptyReading({ workers, flow: [flow('import', 9, 9)] }), limitsBy([]))).toBeNull()
  })

  it('has no rate then, but for that nothing failed', () => {
    expect([sayableRate(1, 9), sayableRate(0, 9), sayableRate(0.2, 10)]).toEqual([null, 0, 0.2])
    expect(numbersOf(emptyReading({ flow: [flow('import', 3, 3)] }))).toMatchObject({
      ...{ ended: 3, failed: 3, failureRate: null }
    })
    expect(numbersOf(emptyReading({ flow: [flow('import', 3, 0)] })).failureRate).toBe(0)
    expect(numbersOf(emptyReading())).toMatchObject({ ended: 0, failureRate: null })
  })
})

describe('a rule', () => {
  it('is about the trouble of its figure, of its type or of the whole queue', () => {
    const trouble = { kind: 'oldest', type: 'mail', ageMs: 1, taskId: '2' } as const
    expect(isAbout(trouble, { signal: 'oldestMs', type: '' })).toBe(true)
    expect(isAbout(trouble, { signal: 'oldestMs', type: 'mail' })).toBe(true)
    expect(isAbout(trouble, { signal: 'oldestMs', type: 'import' })).toBe(false)
    expect(isAbout(trouble, { signal: 'failureRate', type: '' })).toBe(false)
  })
})
