import { z } from 'zod'
import { taskId, taskLimits } from './task.ts'

/** Why a task died: its attempts were used up; an error that no retry mends; its deadline passed; a task that it waited for failed. */
export const deathReason = z.enum(['EXHAUSTED', 'FINAL', 'DEADLINE', 'DEPENDENCY'])
export type DeathReason = z.infer<typeof deathReason>

export const deadLetterResolution = z.enum(['OPEN', 'REPLAYED', 'DISCARDED'])
export type DeadLetterResolution = z.infer<typeof deadLetterResolution>

const cause = z.object({ code: z.string(), message: z.string() }).nullable()

/** A task that ended FAILED, kept until an operator replays or discards it. One a death: a task that is replayed and dies again has two. */
export const deadLetter = z.object({
  id: taskId,
  taskId,
  /** The task's attempt when it died; 0 when it never ran. */
  attempt: z.int().min(0),
  type: z.string(),
  owner: z.string(),
  title: z.string(),
  diedAt: z.number(),
  reason: deathReason,
  /**
   * What went wrong first and last since the task was submitted or last replayed: errors of its attempts. Last is what ended it,
   * which may be its deadline or a task that it waited for.
   */
  firstError: cause,
  lastError: cause,
  resolution: deadLetterResolution,
  resolvedAt: z.number().nullable(),
  /** Who replayed or discarded it; null while it is open. */
  resolvedBy: z.string().nullable()
})
export type DeadLetter = z.infer<typeof deadLetter>

/** All conditions must hold; null or an empty list means any. */
export const deadLetterFilter = z.object({
  resolution: deadLetterResolution.default('OPEN'),
  types: z.array(z.string().max(taskLimits.typeLength)).max(50).default([]),
  reason: deathReason.nullable().default(null),
  /** Of the last error. */
  errorCode: z.string().max(64).nullable().default(null)
})
export type DeadLetterFilter = z.infer<typeof deadLetterFilter>
