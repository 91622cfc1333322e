import type { CapacityInputs } from './model.ts'

/** What a reader may put in place of a live number; the name is also the one in the address. */
export const whatIfKeys = ['workers', 'slots', 'duration', 'arrivals', 'batch', 'claim'] as const
export type WhatIfKey = (typeof whatIfKeys)[number]

/** In the units that are typed: seconds for a duration, tasks a minute for arrivals, milliseconds for a claim. */
export type WhatIf = Partial<Record<WhatIfKey, number>>

interface Field {
  readonly least: number
  readonly most: number
  /** Digits after the point. */
  readonly digits: number
  readonly unit: 's' | 'ms' | 'perMinute' | null
}

export const fields: Readonly<Record<WhatIfKey, Field>> = {
  workers: { least: 0, most: 2_000, digits: 0, unit: null },
  slots: { least: 1, most: 1_024, digits: 1, unit: null },
  duration: { least: 0.001, most: 86_400, digits: 3, unit: 's' },
  arrivals: { least: 0, most: 10_000_000, digits: 1, unit: 'perMinute' },
  batch: { least: 1, most: 1_024, digits: 1, unit: null },
  claim: { least: 0.1, most: 3_600_000, digits: 1, unit: 'ms' }
}

/** The value as it is typed: within its limits, rounded. null for what is no number. */
export function typedValue(key: WhatIfKey, value: number | null): number | null {
  if (value === null || !Number.isFinite(value)) return null
  const { least, most, digits } = fields[key]
  return Number(Math.min(most, Math.max(least, value)).toFixed(digits))
}

/** From the address: what cannot be read is left out. */
export function readWhatIf(query: Readonly<Record<string, unknown>>): WhatIf {
  const whatIf: WhatIf = {}
  for (const key of whatIfKeys) {
    const text = query[key]
    const value = typeof text === 'string' && text.trim() !== '' ? typedValue(key, Number(text)) : null
    if (value !== null) whatIf[key] = value
  }
  return whatIf
}

/** The live numbers in the units that are typed. */
export function typedInputs(inputs: CapacityInputs): Record<WhatIfKey, number | null> {
  const scaled = (value: number | null, factor: number): number | null => (value === null ? null : value * factor)
  return {
    workers: inputs.workers,
    slots: typedValue('slots', inputs.slots),
    duration: typedValue('duration', scaled(inputs.durationMs, 0.001)),
    arrivals: typedValue('arrivals', scaled(inputs.arrivals, 60)),
    batch: typedValue('batch', inputs.batch),
    claim: typedValue('claim', inputs.claimMs)
  }
}

/** A claim asks for as many as there are slots, unless another batch was typed. */
export function withWhatIf(inputs: CapacityInputs, whatIf: WhatIf): CapacityInputs {
  const slots = whatIf.slots ?? inputs.slots
  return {
    ...inputs,
    slots,
    workers: whatIf.workers ?? inputs.workers,
    durationMs: whatIf.duration === undefined ? inputs.durationMs : whatIf.duration * 1000,
    arrivals: whatIf.arrivals === undefined ? inputs.arrivals : whatIf.arrivals / 60,
    batch: whatIf.batch ?? (whatIf.slots === undefined ? inputs.batch : slots),
    claimMs: whatIf.claim ?? inputs.claimMs,
    // Nobody has seen a retry yet: without a word on them there are none.
    attempts: inputs.attempts ?? (whatIf.duration === undefined ? null : 1)
  }
}
