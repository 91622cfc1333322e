/** One field of a payload form. `json` is for everything that has no simpler input. */
export interface FormField {
  readonly name: string
  readonly kind: 'string' | 'integer' | 'number' | 'boolean' | 'enum' | 'json'
  readonly required: boolean
  readonly description: string
  readonly minimum?: number
  readonly maximum?: number
  readonly maxLength?: number
  /** Of an enum. */
  readonly options: readonly (string | number)[]
  /** What the handler takes when the field is left out, as text; null for none. */
  readonly preset: string | null
}
/** By field name: what the inputs hold. Empty text and null are "left out". */
export type FormValues = Record<string, string | number | boolean | null>

/** Why a payload cannot be sent; `field` '' is the payload as a whole. */
export interface FormFault {
  readonly field: string
  readonly kind: 'required' | 'invalidJson' | 'notANumber' | 'tooLarge'
}
export type Built = { readonly payload: string } | { readonly faults: readonly FormFault[] }

type Schema = Readonly<Record<string, unknown>>
const isObject = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The fields of an object schema in its order; null when a form cannot say it and the payload is written as JSON. */
export function fieldsOf(schema: Schema | null): FormField[] | null {
  const properties = schema?.['properties']
  if (schema?.['type'] !== 'object' || !isObject(properties)) return null
  const required = Array.isArray(schema['required']) ? schema['required'] : []
  return Object.entries(properties).map(([name, property]) =>
    fieldOf(name, isObject(property) ? property : {}, required.includes(name))
  )
}

function fieldOf(name: string, property: Schema, required: boolean): FormField {
  const number = (key: string): number | undefined => {
    const value = property[key]
    return typeof value === 'number' && Math.abs(value) < Number.MAX_SAFE_INTEGER ? value : undefined
  }
  const preset = property['default']
  const plain = typeof preset === 'string' ? preset : JSON.stringify(preset)
  return {
    name,
    kind: kindOf(property),
    required: required && preset === undefined,
    description: typeof property['description'] === 'string' ? property['description'] : '',
    minimum: number('minimum'),
    maximum: number('maximum'),
    maxLength: number('maxLength'),
    options: optionsOf(property),
    preset: preset === undefined ? null : plain
  }
}

/** A text or number that may be null is left out to be null only by its default, so it needs no input of its own. */
function kindOf(property: Schema): FormField['kind'] {
  if (optionsOf(property).length > 0) return 'enum'
  const type = property['type']
  const single = Array.isArray(type) && type.length === 2 ? type.find((one) => one !== 'null') : type
  return single === 'string' || single === 'integer' || single === 'number' || single === 'boolean' ? single : 'json'
}

function optionsOf(property: Schema): (string | number)[] {
  const values = property['enum']
  if (!Array.isArray(values)) return []
  const usable = values.filter((one) => typeof one === 'string' || typeof one === 'number')
  return usable.length === values.length ? usable : []
}

/** What the inputs hold at first: the example's values; what it does not name is left out. */
export function valuesOf(fields: readonly FormField[], example: string): FormValues {
  const given = parsed(example)
  const known = isObject(given) ? given : {}
  return Object.fromEntries(fields.map((field) => [field.name, initial(field, known[field.name])]))
}

function initial(field: FormField, value: unknown): FormValues[string] {
  if (value === undefined || value === null) return field.kind === 'string' || field.kind === 'json' ? '' : null
  if (field.kind === 'json') return JSON.stringify(value, null, 2)
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? value : null
}

const mostBytes = 1_048_576

/** JSON text of the payload, or what is wrong with the inputs. */
export function payloadOf(fields: readonly FormField[], values: FormValues): Built {
  const faults: FormFault[] = []
  const payload: Record<string, unknown> = {}
  for (const field of fields) {
    const value = values[field.name] ?? null
    const empty = value === null || (typeof value === 'string' && (field.kind === 'json' ? value.trim() : value) === '')
    if (empty) {
      if (field.required) faults.push({ field: field.name, kind: 'required' })
      continue
    }
    const read = field.kind === 'json' ? parsed(String(value)) : value
    if (read === undefined) faults.push({ field: field.name, kind: 'invalidJson' })
    else payload[field.name] = read
  }
  return faults.length > 0 ? { faults } : checkedText(JSON.stringify(payload))
}

/** Text that was written by hand: sent as it is once it is JSON. */
export function checkedText(text: string): Built {
  if (parsed(text) === undefined) return { faults: [{ field: '', kind: 'invalidJson' }] }
  if (new TextEncoder().encode(text).length > mostBytes) return { faults: [{ field: '', kind: 'tooLarge' }] }
  return { payload: text }
}

/** undefined when it is not JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}
