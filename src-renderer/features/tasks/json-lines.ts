export interface JsonPart {
  readonly text: string
  readonly kind: 'key' | 'string' | 'number' | 'word' | 'mark' | 'masked'
}
export interface JsonLine {
  readonly depth: number
  readonly parts: readonly JsonPart[]
}

/** What the app writes in place of a value that it does not show. */
export const mask = '••••'
/** Longer texts are cut for the eye; copying gives all. */
const longestShown = 2_000

const token = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null|[{}[\],:]/g

/**
 * JSON text on lines of its own, with every number as it was written (a JavaScript number would round it). null when it is not JSON: then
 * it is shown as it is.
 */
export function jsonLines(text: string): JsonLine[] | null {
  if (!isJson(text)) return null
  const lines: JsonLine[] = []
  let parts: JsonPart[] = []
  let depth = 0
  const tokens = text.match(token) ?? []
  const endLine = (): void => {
    if (parts.length > 0) lines.push({ depth, parts })
    parts = []
  }
  tokens.forEach((piece, i) => {
    const next = tokens[i + 1]
    if (piece === '{' || piece === '[') {
      parts.push({ text: piece, kind: 'mark' })
      if (next === '}' || next === ']') return
      endLine()
      depth++
    } else if (piece === '}' || piece === ']') {
      if (tokens[i - 1] !== '{' && tokens[i - 1] !== '[') {
        endLine()
        depth--
      }
      parts.push({ text: piece, kind: 'mark' })
    } else if (piece === ',') {
      parts.push({ text: ',', kind: 'mark' })
      endLine()
    } else if (piece === ':') parts.push({ text: ': ', kind: 'mark' })
    else parts.push({ text: shortened(piece), kind: kindOf(piece, next) })
  })
  endLine()
  return lines
}

function kindOf(piece: string, next: string | undefined): JsonPart['kind'] {
  if (piece.startsWith('"')) {
    if (next === ':') return 'key'
    return piece.includes(mask) ? 'masked' : 'string'
  }
  return /^[tfn]/.test(piece) ? 'word' : 'number'
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

const shortened = (piece: string): string =>
  piece.length > longestShown ? `${piece.slice(0, longestShown)}… (${piece.length.toLocaleString('en-US')})` : piece
