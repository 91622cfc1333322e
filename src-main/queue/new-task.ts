import { z } from 'zod'
import { AppError, newTask, taskLimits } from '../kernel/index.ts'
import type { NewTask } from '../kernel/index.ts'
import { isStorable } from './stored-text.ts'

/** 9999-12-31T23:59:59.999Z, the last instant that both stores can hold. */
const lastInstant = 253_402_300_799_999
/** INT UNSIGNED. */
const longestTimeoutMs = 4_294_967_295

/**
 * The task as a store may write it. Throws AppError `INVALID_PAYLOAD` when the payload is no JSON text within
 * `taskLimits.payloadBytes`, `INVALID_INPUT` for everything else; `position` names the task in a batch (from 1).
 */
export function validateNewTask(task: NewTask, position = 1): NewTask {
  const parsed = newTask.safeParse(task)
  if (!parsed.success) throw invalidTask(position, z.prettifyError(parsed.error))
  const valid = parsed.data
  checkPayload(valid.payload, position)
  for (const field of ['owner', 'title', 'businessKey', 'partitionKey', 'idempotencyKey'] as const) {
    const text = valid[field]
    if (text !== null && !isStorable(text)) throw invalidTask(position, `${field} has a NUL or half a character`)
  }
  for (const field of ['runAt', 'deadlineAt'] as const) {
    const at = valid[field]
    if (at !== null && (at < 0 || at > lastInstant))
      throw invalidTask(position, `${field} is not between 1970 and 9999`)
  }
  if (valid.timeoutMs !== null && valid.timeoutMs > longestTimeoutMs)
    throw invalidTask(position, `timeoutMs is over ${longestTimeoutMs}`)
  return valid
}

function checkPayload(payload: string, position: number): void {
  const bytes = Buffer.byteLength(payload, 'utf8')
  if (bytes > taskLimits.payloadBytes)
    throw invalidPayload(position, `the payload has ${bytes} bytes; the limit is ${taskLimits.payloadBytes}`)
  if (!payload.isWellFormed()) throw invalidPayload(position, 'the payload has half a character (a lone surrogate)')
  try {
    JSON.parse(payload)
  } catch (cause) {
    throw invalidPayload(position, 'the payload is not JSON text', cause)
  }
}

/** The error for one task of a batch; `position` from 1. */
export const invalidTask = (position: number, reason: string): AppError =>
  new AppError('INVALID_INPUT', 'user', `Task ${position} of the batch is not valid: ${reason}`, {
    details: { position }
  })

const invalidPayload = (position: number, reason: string, cause?: unknown): AppError =>
  new AppError('INVALID_PAYLOAD', 'user', `Task ${position} of the batch is not valid: ${reason}`, {
    cause,
    details: { position }
  })

/** Parts that a store writes as a whole or not at all: `submitBatch` tasks and `submitBytes` of payload, or one task that is larger. */
export function taskBatches<T extends { readonly task: NewTask }>(drafts: readonly T[]): T[][] {
  const size = ({ task }: T): number => Buffer.byteLength(task.payload, 'utf8')
  const { submitBatch, submitBytes, submitDependencies } = taskLimits
  return partsWithin(drafts, submitBytes, size).flatMap((part) =>
    partsWithin(part, submitDependencies, ({ task }) => task.after.length).flatMap((some) =>
      partsWithin(some, submitBatch, () => 1)
    )
  )
}

/** Consecutive parts whose sizes add up to at most `most` each; one that is larger by itself is a part of its own. */
export function partsWithin<T>(values: readonly T[], most: number, sizeOf: (value: T) => number): T[][] {
  const parts: T[][] = []
  let size = 0
  for (const value of values) {
    const more = sizeOf(value)
    const last = parts.at(-1)
    if (last && size + more <= most) {
      last.push(value)
      size += more
    } else {
      parts.push([value])
      size = more
    }
  }
  return parts
}
