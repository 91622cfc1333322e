import type { z } from 'zod'
import type { ErrorClass, LogLevel, Progress } from '../../kernel/index.ts'
import type { RowSink } from '../row-sink.ts'

/*
 * What a handler sees: the module that user files import as `taskdeck`. It runs inside a handler thread. Documented
 * for authors in `docs/handlers.md`; a change here is a change for them.
 */

/** Why a running handler is asked to stop. */
export type InterruptReason = 'cancelled' | 'timeout' | 'lease-lost' | 'shutdown'

export interface NewArtifactFile {
  /** Shown for download; unsafe characters are replaced. */
  readonly name: string
  readonly contentType: string
  readonly content: string | Uint8Array
}

export interface HandlerContext {
  readonly taskId: string
  /** 1 for the first claim of the task; grows with each claim, hand-backs included. */
  readonly attempt: number
  /** The same for every attempt: give it to the systems that you change, so that a repeated attempt changes nothing. */
  readonly idempotencyKey: string
  /** Aborts when the task is cancelled, times out, loses its lease or the worker stops. Pass it on to everything that waits. */
  readonly signal: AbortSignal
  /** Throws when the handler was asked to stop. Also sees it from inside a loop that never yields. */
  checkCancellation(): void
  /** Missing counts are zero, a missing total is unknown. */
  progress(counts: Partial<Progress>): void
  log(message: string): void
  log(level: LogLevel, message: string): void
  /** Keeps a file with the attempt. Throws FinalError when it is too large. */
  artifact(file: NewArtifactFile): Promise<void>
  /** What the last attempt saved, undefined when nothing. */
  readonly checkpoint: unknown
  /** Resolves when the value (JSON) is stored for the next attempt; rejects when the lease is lost. */
  saveCheckpoint(value: unknown): Promise<void>
  /** Rows in the queue's own database, each once per (import key, row number). */
  readonly rows: Pick<RowSink, 'insert' | 'count'>
}

export interface HandlerDefinition<Schema extends z.ZodType = z.ZodType> {
  /** The task type: letters, digits and . _ : - */
  readonly type: string
  /** One line for people. */
  readonly description?: string
  /** Checked before `execute` is called; what does not fit fails at once with INVALID_PAYLOAD. */
  readonly payload: Schema
  /** A payload that works, shown in forms. */
  readonly example?: z.input<Schema>
  /** What it returns, or resolves with, becomes the task's result (JSON). */
  execute(context: HandlerContext, payload: z.output<Schema>): unknown
}

const brand = Symbol.for('taskdeck.handler')

/** What `defineHandler` makes. Producers that know it submit typed payloads: see the package's `submit`. */
export interface Handler<Schema extends z.ZodType = z.ZodType> {
  readonly [brand]: true
  readonly type: string
  readonly description: string
  readonly payload: Schema
  readonly example: unknown
  execute(context: HandlerContext, payload: unknown): unknown
}

/** Declares a handler. Export what it returns, by any name. Throws a TypeError when a part is missing that no task can do without. */
export function defineHandler<Schema extends z.ZodType>(definition: HandlerDefinition<Schema>): Handler<Schema> {
  refuseIncomplete(definition)
  return {
    [brand]: true,
    type: definition.type,
    description: definition.description ?? '',
    payload: definition.payload,
    example: definition.example,
    // The runner parses the payload with `definition.payload` before it calls this.
    execute: (context, payload) => definition.execute(context, payload as z.output<Schema>)
  }
}

/** Most handlers are JavaScript or loaded without a type check: better told when the file is read than by every task. */
function refuseIncomplete({ type, payload, execute }: { type?: unknown; payload?: unknown; execute?: unknown }): void {
  if (typeof execute !== 'function') throw new TypeError(`The handler "${String(type)}" has no execute function.`)
  if (typeof payload !== 'object' || payload === null || !('safeParse' in payload))
    throw new TypeError(`The handler "${String(type)}" has no payload: give it a zod schema, z.object({}) for none.`)
}

export function isHandler(value: unknown): value is Handler {
  return typeof value === 'object' && value !== null && brand in value
}

const errorBrand = Symbol.for('taskdeck.error')
const partialBrand = Symbol.for('taskdeck.partial')

/** An error that decides by itself what becomes of the task. `code` is at most 64 of A-Z, 0-9 and _. */
export class HandlerError extends Error {
  override readonly name: string = 'HandlerError'
  readonly [errorBrand] = true
  readonly code: string
  readonly errorClass: ErrorClass

  constructor(errorClass: ErrorClass, code: string, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
    this.errorClass = errorClass
  }
}

/** Another attempt may succeed: overload, network, an answer that is not there yet. */
export class RetryableError extends HandlerError {
  override readonly name = 'RetryableError'
  constructor(code: string, message: string, options?: ErrorOptions) {
    super('retryable', code, message, options)
  }
}

/** No attempt can succeed: bad input, no permission. */
export class FinalError extends HandlerError {
  override readonly name = 'FinalError'
  constructor(code: string, message: string, options?: ErrorOptions) {
    super('final', code, message, options)
  }
}

/** Something ran out (disk, pool, quota); retried later. */
export class ResourceError extends HandlerError {
  override readonly name = 'ResourceError'
  constructor(code: string, message: string, options?: ErrorOptions) {
    super('resource', code, message, options)
  }
}

/** The reason of `signal` and what `checkCancellation` throws. */
export class InterruptedError extends Error {
  override readonly name = 'AbortError'
  readonly reason: InterruptReason
  constructor(reason: InterruptReason) {
    super(`The task was asked to stop: ${reason}.`)
    this.reason = reason
  }
}

/** A result that ends the task as PARTIAL_SUCCESS. */
export class PartialResult {
  readonly [partialBrand] = true
  readonly result: unknown
  constructor(result: unknown) {
    this.result = result
  }
}

// By brand and not by class: a folder with a `taskdeck` of its own in node_modules has other classes.
export const isHandlerError = (value: unknown): value is HandlerError => value instanceof Error && errorBrand in value

export const isPartialResult = (value: unknown): value is PartialResult =>
  typeof value === 'object' && value !== null && partialBrand in value

export const partial = (result: unknown): PartialResult => new PartialResult(result)
