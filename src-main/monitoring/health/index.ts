export { ServerLook, type ServerLookOptions } from './server-look.ts'
export { readPlan, judgePlan, type PlannedStatement } from './plans.ts'
export type { WorkerPlace } from './worker-ties.ts'
