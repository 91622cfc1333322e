import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  capacityOf,
  drainOf,
  mostWorkers,
  waitOf,
  workersForDrain,
  workersForWait,
  type CapacityInputs
} from './model.ts'

const usual: CapacityInputs = {
  workers: 4,
  slots: 10,
  durationMs: 2_000,
  batch: 10,
  claimMs: 10,
  arrivals: 10,
  attempts: 1,
  waiting: 0,
  taken: { slots: 0, rate: 0 }
}
const some = (change: Partial<CapacityInputs>): CapacityInputs => ({ ...usual, ...change })

const positive = fc.double({ min: 0.01, max: 10_000, noNaN: true })
const anyInputs: fc.Arbitrary<CapacityInputs> = fc.record({
  workers: fc.nat(200),
  slots: fc.integer({ min: 1, max: 64 }),
  durationMs: positive,
  batch: fc.integer({ min: 1, max: 64 }),
  claimMs: positive,
  arrivals: fc.double({ min: 0, max: 1_000, noNaN: true }),
  attempts: fc.double({ min: 1, max: 5, noNaN: true }),
  waiting: fc.nat(100_000),
  taken: fc.record({ slots: fc.nat(20), rate: fc.nat(20) })
})

describe('throughput', () => {
  it('is what the slots hold, or what claims bring', () => {
    expect(capacityOf(usual)).toEqual({ execute: 20, claim: 4_000, throughput: 20, bottleneck: 'slots', use: 0.5 })
    // Article A: one worker, 50 at a poll, every 10 s.
    expect(capacityOf(some({ workers: 1, durationMs: 100, batch: 50, claimMs: 10_000, slots: 50 }))).toMatchObject({
      execute: 500,
      claim: 5,
      throughput: 5,
      bottleneck: 'claims',
      use: 2
    })
  })

  it('counts the attempts that a task takes', () => {
    expect(capacityOf(some({ attempts: 2 }))).toMatchObject({ throughput: 10, use: 1 })
  })

  it('of one type is what the others leave', () => {
    expect(capacityOf(some({ taken: { slots: 30, rate: 0 } }))).toMatchObject({ throughput: 5, use: 2 })
    expect(capacityOf(some({ taken: { slots: 50, rate: 0 } }))).toMatchObject({ throughput: 0, use: Infinity })
  })

  it('is nothing without workers, whatever else is unknown', () => {
    const none = some({ workers: 0, durationMs: null, claimMs: null })
    expect(capacityOf(none)).toMatchObject({ bottleneck: 'workers', throughput: 0, use: Infinity })
  })

  it.each(['workers', 'slots', 'durationMs', 'batch', 'claimMs', 'attempts'] as const)(
    'is unknown when %s is, and so is all that follows',
    (name) => {
      const inputs = some({ [name]: null, waiting: 5 })
      expect(capacityOf(inputs)).toMatchObject({ throughput: null, use: null })
      expect(drainOf(inputs)).toEqual({ kind: 'unknown' })
      expect(waitOf(inputs)).toBeNull()
      if (name !== 'workers') expect(workersForWait(inputs, 1_000)).toBeNull()
      if (name !== 'workers') expect(workersForDrain(inputs, 1_000)).toBeNull()
    }
  )

  it('never falls with more workers, slots or batch, nor rises with longer attempts', () => {
    const grown = ['workers', 'slots', 'batch'] as const
    fc.assert(
      fc.property(anyInputs, fc.integer({ min: 1, max: 50 }), (inputs, more) => {
        const before = capacityOf(inputs).throughput ?? NaN
        for (const name of grown) {
          const after = capacityOf({ ...inputs, [name]: (inputs[name] ?? 0) + more }).throughput ?? NaN
          expect(after).toBeGreaterThanOrEqual(before)
        }
        const slower = capacityOf({ ...inputs, durationMs: (inputs.durationMs ?? 0) + more }).throughput ?? NaN
        expect(slower).toBeLessThanOrEqual(before)
      })
    )
  })

  it('never exceeds either bound', () => {
    fc.assert(
      fc.property(anyInputs, (inputs) => {
        const { execute, claim, throughput } = capacityOf(inputs)
        expect(throughput).toBeLessThanOrEqual(Math.min(execute ?? NaN, claim ?? NaN))
      })
    )
  })
})

describe('what waits', () => {
  it('drains at what is left of the throughput', () => {
    expect(drainOf(some({ waiting: 600 }))).toEqual({ kind: 'drains', ms: 60_000 })
    expect(drainOf(some({ arrivals: 0, waiting: 20 }))).toEqual({ kind: 'drains', ms: 1_000 })
    expect(drainOf(usual)).toEqual({ kind: 'empty' })
  })

  it('grows when more comes than can be done, also from nothing', () => {
    expect(drainOf(some({ arrivals: 25 }))).toEqual({ kind: 'grows', rate: 5 })
    expect(drainOf(some({ arrivals: 20, waiting: 5 }))).toEqual({ kind: 'grows', rate: 0 })
    expect(drainOf(some({ workers: 0, arrivals: 0, waiting: 5 }))).toEqual({ kind: 'grows', rate: 0 })
  })
})

describe('the wait of new tasks', () => {
  it('is Erlang’s: one server at half its load, two at three quarters', () => {
    const one = some({ workers: 1, slots: 1, durationMs: 1_000, batch: 1, claimMs: 1, arrivals: 0.5 })
    expect(waitOf(one)).toBeCloseTo(1 + 2_000 * Math.log(0.5 / 0.05), 3)
    const two = some({ workers: 1, slots: 2, durationMs: 1_000, batch: 2, claimMs: 1, arrivals: 1.5 })
    // C(2, 1.5) = 9 / 14
    expect(waitOf(two)).toBeCloseTo(1 + 2_000 * Math.log(9 / 14 / 0.05), 3)
  })

  it('is that of the claim alone where a slot is almost always free, and has no end where the queue grows', () => {
    expect(waitOf(some({ arrivals: 1 }))).toBe(10)
    expect(waitOf(some({ arrivals: 21 }))).toBe(Infinity)
    expect(waitOf(some({ workers: 0 }))).toBe(Infinity)
  })

  it('never grows with more workers', () => {
    fc.assert(
      fc.property(anyInputs, fc.integer({ min: 1, max: 20 }), (inputs, more) => {
        const [before, after] = [waitOf(inputs), waitOf({ ...inputs, workers: (inputs.workers ?? 0) + more })]
        expect(after).toBeLessThanOrEqual((before ?? NaN) + 1e-6)
      })
    )
  })
})

describe('workers that are needed', () => {
  it('are enough, and one fewer is not', () => {
    fc.assert(
      fc.property(anyInputs, fc.integer({ min: 1, max: 100_000 }), (inputs, target) => {
        const workers = workersForWait(inputs, target)
        if (workers === null) {
          expect(waitOf({ ...inputs, workers: mostWorkers })).toBeGreaterThan(target)
          return
        }
        expect(waitOf({ ...inputs, workers })).toBeLessThanOrEqual(target)
        if (workers > 0) expect(waitOf({ ...inputs, workers: workers - 1 })).toBeGreaterThan(target)
      }),
      { numRuns: 50 }
    )
  })

  it('to drain in time', () => {
    // 10 a second come, 600 wait, a worker does 5 a second: 20 a second for a minute.
    expect(workersForDrain(some({ waiting: 600 }), 60_000)).toBe(4)
    expect(workersForDrain(some({ waiting: 600 }), 30_000)).toBe(6)
    expect(workersForDrain(some({ waiting: 0, arrivals: 0 }), 1_000)).toBe(0)
  })
})
