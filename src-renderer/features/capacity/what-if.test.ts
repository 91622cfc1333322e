import { describe, expect, it } from 'vitest'
import type { CapacityInputs } from './model.ts'
import { readWhatIf, typedInputs, typedValue, withWhatIf } from './what-if.ts'

const live: CapacityInputs = {
  workers: 4,
  slots: 10,
  durationMs: 2_345.6,
  batch: 10,
  claimMs: 6.04,
  arrivals: 0.5,
  attempts: 1.1,
  waiting: 3,
  taken: { slots: 0, rate: 0 }
}

describe('what if', () => {
  it('is read from the address within its limits; what is no number is left out', () => {
    expect(
      readWhatIf({ workers: '12', duration: '1.5', slots: '', arrivals: 'many', batch: ['1'], claim: '0' })
    ).toEqual({
      workers: 12,
      duration: 1.5,
      claim: 0.1
    })
    expect(readWhatIf({ workers: '1e9' })).toEqual({ workers: 2_000 })
  })

  it('shows live numbers in the units that are typed', () => {
    expect(typedInputs(live)).toEqual({ workers: 4, slots: 10, duration: 2.346, arrivals: 30, batch: 10, claim: 6 })
    expect(typedInputs({ ...live, durationMs: null }).duration).toBeNull()
    expect(typedValue('workers', NaN)).toBeNull()
  })

  it('replaces what was typed and nothing else', () => {
    expect(withWhatIf(live, {})).toEqual(live)
    expect(withWhatIf(live, { duration: 1, arrivals: 120 })).toEqual({ ...live, durationMs: 1_000, arrivals: 2 })
  })

  it('lets a claim ask for as many as there are slots, unless that was typed too', () => {
    expect(withWhatIf(live, { slots: 20 })).toMatchObject({ slots: 20, batch: 20 })
    expect(withWhatIf(live, { slots: 20, batch: 5 })).toMatchObject({ slots: 20, batch: 5 })
  })

  it('makes a forecast possible where nothing has ended yet', () => {
    expect(withWhatIf({ ...live, durationMs: null, attempts: null }, { duration: 3 })).toMatchObject({
      durationMs: 3_000,
      attempts: 1
    })
  })
})
