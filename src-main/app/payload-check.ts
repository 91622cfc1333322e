import { z } from 'zod'
import { AppError } from '../kernel/index.ts'

/** As zod reads them back from what handlers tell; one that it cannot read refuses nothing. */
const known = new WeakMap<object, z.ZodType | null>()

/**
 * Throws INVALID_PAYLOAD for a payload that the handler's schema refuses, so that it is said to who typed it and not by a failed task. What the
 * schema's JSON form cannot say (a refinement) only the handler knows. Text that is no JSON is left to who stores it.
 */
export function requireFittingPayload(payload: string, jsonSchema: Readonly<Record<string, unknown>>): void {
  const value = parsed(payload)
  const result = value === undefined ? undefined : schemaOf(jsonSchema)?.safeParse(value)
  if (!result || result.success) return
  const reason = z.prettifyError(result.error)
  throw new AppError('INVALID_PAYLOAD', 'user', `The payload does not fit: ${reason}`, { details: { reason } })
}

function schemaOf(jsonSchema: Readonly<Record<string, unknown>>): z.ZodType | null {
  const found = known.get(jsonSchema)
  if (found !== undefined) return found
  let schema: z.ZodType | null = null
  try {
    schema = z.fromJSONSchema(jsonSchema)
  } catch {
    // A form that it does not know: the handler decides alone.
  }
  known.set(jsonSchema, schema)
  return schema
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}
