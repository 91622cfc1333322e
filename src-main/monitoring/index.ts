export { pointsOf, typesPerReading } from './points.ts'
export { costShare } from './pace.ts'
export { createSampler } from './sampler.ts'
export type { Sampler, SamplerOptions, SamplerState, Tick } from './sampler.ts'
