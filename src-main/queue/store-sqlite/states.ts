import { deadlineStates, leasedStates, waitingStates, type TaskState } from '../../kernel/index.ts'

const inList = (states: readonly TaskState[]): string => `state IN (${states.map((state) => `'${state}'`).join(', ')})`

/** As the claim's index says it: SQLite uses a partial index only for the same words. */
export const isWaiting = inList(waitingStates)

/** As the deadlines' index says it. */
export const isUnderDeadline = inList(deadlineStates)

/** For leased tasks. */
export const isLeased = inList(leasedStates)

/** The fence: who holds which attempt of which task. Parameters `:taskId`, `:workerId` (null for a leased row without one), `:attempt`. */
export const holdsFence = `id = :taskId AND worker_id IS :workerId AND attempt = :attempt AND ${isLeased}`
