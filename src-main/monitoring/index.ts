export { createSampler } from './sampler.ts'
export type { Sampler, SamplerOptions, SamplerState, Tick } from './sampler.ts'
