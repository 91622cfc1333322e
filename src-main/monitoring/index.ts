export { createCostGuard, probeLimits, type CostGuardOptions } from './cost-guard.ts'
export { pointsOf, withTypes } from './points.ts'
export { createSampler } from './sampler.ts'
export type { Sampler, SamplerOptions, SamplerState, Tick } from './sampler.ts'
