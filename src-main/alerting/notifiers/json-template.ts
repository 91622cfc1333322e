import { AppError } from '../../kernel/index.ts'

/** What a placeholder stands for. */
export type TemplateValues = Readonly<Record<string, string | number | null>>

const placeholder = /^\{\{\s*([^{}\\"]{0,60}?)\s*\}\}/

/**
 * A JSON text with its {{placeholders}} filled in. Inside of a string a value becomes a part of that string, elsewhere it becomes a whole JSON
 * value: whatever a value holds, it ends nothing and adds no key. Throws INVALID_INPUT for a name that does not exist and for what is no
 * JSON afterwards.
 */
export function fillTemplate(template: string, values: TemplateValues): string {
  let filled = ''
  let inString = false
  for (let at = 0; at < template.length;) {
    const rest = template.slice(at, at + 80)
    const [whole, name] = placeholder.exec(rest) ?? []
    if (whole !== undefined && name !== undefined) {
      const value = valueOf(name, values)
      filled += inString ? JSON.stringify(textOf(value)).slice(1, -1) : JSON.stringify(value)
      at += whole.length
      continue
    }
    // A backslash takes the next character with it: no placeholder begins there.
    const step = inString && rest.startsWith('\\') ? 2 : 1
    if (rest.startsWith('"')) inString = !inString
    filled += rest.slice(0, step)
    at += step
  }
  requireJson(filled)
  return filled
}

function valueOf(name: string, values: TemplateValues): string | number | null {
  const value = Object.hasOwn(values, name) ? values[name] : undefined
  if (value !== undefined) return typeof value === 'string' ? value.toWellFormed() : value
  const known = Object.keys(values).join(', ')
  throw new AppError('INVALID_INPUT', 'user', `The template has no value for {{${name}}}. There are: ${known}.`, {
    details: { field: 'template', name }
  })
}

const textOf = (value: string | number | null): string => (value === null ? '' : String(value))

function requireJson(text: string): void {
  try {
    JSON.parse(text)
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : ''
    throw new AppError('INVALID_INPUT', 'user', `The template is no valid JSON when it is filled in: ${reason}`, {
      cause,
      details: { field: 'template' }
    })
  }
}
