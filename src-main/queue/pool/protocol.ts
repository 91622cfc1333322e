import { z } from 'zod'
import { attemptError, logLevel, progress } from '../../kernel/index.ts'
import { errorRule } from './error-rules.ts'

/*
 * What passes between the worker and one handler thread. User code runs in the thread, so nothing that comes from it is
 * trusted: every message is parsed, and one that does not fit ends the thread.
 */

export const threadLimits = {
  /** Tasks that a thread holds at most, the running one included. */
  batch: 32,
  artifacts: 20,
  /** For one handler file. */
  loadMs: 10_000,
  rowsPerInsert: 1_000,
  rowBytes: 65_536,
  logLinesPerWindow: 200,
  logWindowMs: 250,
  progressEveryMs: 100
} as const

/*
 * The shared cells. Each hand-over has a number; cell `number % ring` holds `number * 4 + state`. The thread starts a task
 * and the worker takes it back by the same compare-and-exchange, so exactly one of them wins without asking
 * the other, also while the thread spins.
 */
export const cellRing = 256
export const cellWaiting = 0
export const cellStarted = 1
export const cellTakenBack = 2
/** Number of the task that is asked to stop, and why: seen by `checkCancellation` inside a loop that never yields. */
export const interruptCell = cellRing
export const interruptReasonCell = cellRing + 1
export const cellCount = cellRing + 2
/** Hand-over numbers wrap here, so that `number * 4 + state` fits 32 bits. */
export const handoverWrap = 2 ** 28

export const interruptReasons = ['cancelled', 'timeout', 'lease-lost', 'shutdown'] as const
const interruptReason = z.enum(interruptReasons)

const handover = z.int().min(1).max(handoverWrap)

const handedTask = z.object({
  handover,
  taskId: z.string(),
  attempt: z.int(),
  type: z.string(),
  payload: z.string(),
  idempotencyKey: z.string(),
  checkpoint: z.string().nullable(),
  /** The worker wants to know when it starts (it has a timeout). */
  watched: z.boolean()
})
export type HandedTask = z.infer<typeof handedTask>

export const toThread = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('run'), tasks: z.array(handedTask) }),
  z.object({ kind: z.literal('interrupt'), handover, reason: interruptReason }),
  z.object({ kind: z.literal('reply'), request: z.int(), value: z.number() }),
  z.object({ kind: z.literal('refusal'), request: z.int(), code: z.string(), message: z.string() })
])
export type ToThread = z.infer<typeof toThread>

const threadOutcome = z.discriminatedUnion('status', [
  z.object({ status: z.literal('succeeded'), partial: z.boolean(), result: z.string().nullable() }),
  /** `interrupted`: it threw because it was asked to stop. */
  z.object({ status: z.literal('failed'), error: attemptError, interrupted: z.boolean() })
])
export type ThreadOutcome = z.infer<typeof threadOutcome>

const importedRow = z.object({ rowNumber: z.int().min(1), data: z.string().max(threadLimits.rowBytes) })
const request = z.int()
export const importKey = z.string().min(1).max(200)
export const importedRows = z.array(importedRow).max(threadLimits.rowsPerInsert)

export const fromThread = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('ready') }),
  z.object({ kind: z.literal('started'), handover }),
  z.object({
    kind: z.literal('ended'),
    handover,
    outcome: threadOutcome,
    durationMs: z.number(),
    progress: progress.nullable()
  }),
  z.object({ kind: z.literal('progress'), handover, progress }),
  z.object({ kind: z.literal('log'), handover, level: logLevel, message: z.string() }),
  z.object({
    kind: z.literal('artifact'),
    handover,
    name: z.string().min(1).max(200),
    contentType: z.string().max(100),
    bytes: z.int().min(0)
  }),
  z.object({ kind: z.literal('checkpoint'), handover, request, value: z.string() }),
  z.object({
    kind: z.literal('insertRows'),
    handover,
    request,
    importKey,
    rows: importedRows
  }),
  z.object({ kind: z.literal('countRows'), handover, request, importKey }),
  /** Something threw after its task had ended: the thread is replaced once it is idle. */
  z.object({ kind: z.literal('tainted'), message: z.string() }),
  // reading handler files
  z.object({ kind: z.literal('loading'), file: z.string() }),
  /** In mode `run`, also when it failed. */
  z.object({ kind: z.literal('loaded'), file: z.string() }),
  z.object({
    kind: z.literal('described'),
    file: z.string().nullable(),
    handlers: z.array(
      z.object({
        type: z.string(),
        description: z.string(),
        payloadSchema: z.record(z.string(), z.unknown()).nullable(),
        example: z.string()
      })
    )
  }),
  z.object({ kind: z.literal('broken'), file: z.string(), message: z.string() }),
  z.object({ kind: z.literal('allDescribed') })
])
export type FromThread = z.infer<typeof fromThread>

/** What a thread is started with. No secrets: user code can read it. */
export const threadConfig = z.object({
  mode: z.enum(['run', 'describe']),
  /** Built-in handlers are offered. */
  builtIn: z.boolean(),
  /** In mode `run`: the file of each of the user's types. */
  fileOfType: z.record(z.string(), z.string()),
  /** In mode `describe`: the files to read. */
  files: z.array(z.string()),
  /** The user's own rules for errors, before the built-in ones. */
  errorRules: z.array(errorRule),
  artifactDir: z.string(),
  /** Compiled handler files; a folder that only this user can write. */
  cacheDir: z.string(),
  cells: z.instanceof(SharedArrayBuffer)
})
export type ThreadConfig = z.infer<typeof threadConfig>
