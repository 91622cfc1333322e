/* Recording a failure must not be able to fail (FAULTS 46): these never throw, whatever was thrown. */

/** The message of any thrown value, with its cause. */
export function messageOf(thrown: unknown): string {
  try {
    if (!(thrown instanceof Error)) return typeof thrown === 'string' ? thrown : `thrown value: ${describe(thrown)}`
    const own = thrown.message === '' ? thrown.name : thrown.message
    return thrown.cause instanceof Error ? `${own} (cause: ${thrown.cause.message})` : own
  } catch {
    return 'an error whose message cannot be read'
  }
}

/** A string property of any thrown value, undefined when there is none or reading it throws. */
export function textProperty(thrown: unknown, name: 'code' | 'name' | 'stack'): string | undefined {
  try {
    if (typeof thrown !== 'object' || thrown === null) return undefined
    const value: unknown = Reflect.get(thrown, name)
    return typeof value === 'string' ? value : undefined
  } catch {
    return undefined
  }
}

function describe(value: unknown): string {
  if (typeof value === 'object' && value !== null) return JSON.stringify(value) ?? 'an object'
  return String(value)
}

/** The HTTP status that an error carries, as clients name it; undefined when there is none. */
export function httpStatusOf(thrown: unknown): number | undefined {
  const response = property(thrown, 'response')
  for (const value of [property(thrown, 'status'), property(thrown, 'statusCode'), property(response, 'status')])
    if (typeof value === 'number' && Number.isInteger(value) && value >= 100 && value <= 599) return value
  return undefined
}

function property(owner: unknown, name: string): unknown {
  try {
    return typeof owner === 'object' && owner !== null ? (Reflect.get(owner, name) as unknown) : undefined
  } catch {
    return undefined
  }
}
