import { z } from 'zod'
import { AppError, newTask, type NewTask, type NewTaskInput } from '../kernel/index.ts'
import { messageOf } from '../queue/pool/error-text.ts'
import { isHandler, type Handler } from '../queue/pool/handler.ts'

/** Everything about a task but its type and payload. Times: a Date, or milliseconds since the epoch. */
export interface TaskOptions extends Omit<NewTaskInput, 'type' | 'payload' | 'runAt' | 'deadlineAt'> {
  /** Not before; default: at once, by the database's clock. */
  readonly runAt?: Date | number | null
  /** Fails when it has not begun by then. */
  readonly deadlineAt?: Date | number | null
}

/** A task by its type's name: the payload is anything that has a JSON form, `{}` when it is left out. */
export interface NamedTask extends TaskOptions {
  readonly type: string
  readonly payload?: unknown
}

/** A task by its handler: the payload's type is checked by the compiler, and its values by the handler's schema before anything is sent. */
export interface HandlerTask<Schema extends z.ZodType = z.ZodType> extends TaskOptions {
  readonly handler: Handler<Schema>
  readonly payload: z.input<Schema>
}

export type TaskInput = NamedTask | HandlerTask

/**
 * The task as the store takes it. Throws INVALID_PAYLOAD when the payload has no JSON form or is refused by its handler's schema, and
 * INVALID_INPUT for the rest; `position` (from 1) is in the error's details.
 */
export function toNewTask(input: TaskInput, position: number): NewTask {
  // Not every caller has a compiler.
  if (typeof input !== 'object' || (input as unknown) === null)
    throw new AppError('INVALID_INPUT', 'user', `Task ${position} is no object.`, { details: { position } })
  const { type, payload, runAt, deadlineAt, rest } = partsOf(input, position)
  const parsed = newTask.strict().safeParse({
    ...rest,
    type,
    payload,
    runAt: instant(runAt),
    deadlineAt: instant(deadlineAt)
  })
  if (parsed.success) return parsed.data
  const reason = z.prettifyError(parsed.error)
  throw new AppError('INVALID_INPUT', 'user', `Task ${position} is not valid: ${reason}`, { details: { position } })
}

function partsOf(input: TaskInput, position: number) {
  const { runAt, deadlineAt, payload = {}, ...rest } = input
  if (!('handler' in rest)) return { type: rest.type, payload: jsonText(payload, position), runAt, deadlineAt, rest }
  const { handler, ...options } = rest
  if (!isHandler(handler)) {
    const message = `The handler of task ${position} must be what defineHandler returned.`
    throw new AppError('INVALID_INPUT', 'user', message, { details: { position } })
  }
  return { type: handler.type, payload: checkedText(handler, payload, position), runAt, deadlineAt, rest: options }
}

/**
 * The payload's JSON text, checked as the worker will read it: a Date is a text by then. The input is sent and not what the schema makes of it: the
 * worker parses it again, and transforms must not run twice.
 */
function checkedText(handler: Handler, payload: unknown, position: number): string {
  const text = jsonText(payload, position)
  const reason = whyNot(handler, JSON.parse(text))
  if (reason === undefined) return text
  const message = `The payload of task ${position} is nothing for "${handler.type}": ${reason}`
  throw new AppError('INVALID_PAYLOAD', 'user', message, { details: { position } })
}

function whyNot(handler: Handler, payload: unknown): string | undefined {
  try {
    const parsed = handler.payload.safeParse(payload)
    return parsed.success ? undefined : z.prettifyError(parsed.error)
  } catch (error) {
    // A refinement that waits, or one that throws.
    return `its schema cannot check it: ${messageOf(error)}`
  }
}

function jsonText(payload: unknown, position: number): string {
  let text: string | undefined
  let cause: unknown
  try {
    text = JSON.stringify(payload)
  } catch (error) {
    cause = error
  }
  if (text !== undefined) return text
  const message = `The payload of task ${position} has no JSON form.`
  throw new AppError('INVALID_PAYLOAD', 'user', message, { cause, details: { position } })
}

/** An invalid Date becomes NaN, which is refused with the rest. */
const instant = (at: Date | number | null | undefined): number | null =>
  at instanceof Date ? at.getTime() : (at ?? null)
