import { comparableName, sensitiveKeyLimits } from './sensitive-keys.ts'

/** What stands where a secret was. */
export const mask = '••••'

/** Free text with what is sensitive in it hidden. */
export type MaskText = (text: string) => string

const secretNames =
  'password|passwd|pwd|passphrase|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|authorization|credentials?|cookie'

const named = (value: string): RegExp =>
  new RegExp(String.raw`((?:${secretNames})[\w-]{0,20}\\{0,7}["']?\s{0,3}[:=]\s{0,3})${value}`, 'gi')

/** What stands behind a name, and what is shown of it: quoted; the same inside a JSON text that is a string of another; single words. */
const values: readonly (readonly [value: string, shown: string])[] = [
  [String.raw`"(?:[^"\\]|\\[^]){0,16384}"?`, `"${mask}"`],
  [String.raw`\\"(?:[^"\\]|\\[^"\\]|\\\\(?:\\[^]|[^\\])){0,16384}(?:\\")?`, `\\"${mask}\\"`],
  [String.raw`\\{2,7}"[^"]{0,16384}"?`, `"${mask}"`],
  [String.raw`'[^']{0,16384}'?`, `'${mask}'`],
  [String.raw`[^\s"'\\,;&{}[\]()]{1,16384}`, mask]
]

/*
 * Texts come from tasks and may be made to hurt: every repetition is bounded, and a rule that has begun to match
 * consumes what it has seen, so that the time stays proportional to the length.
 */
const rules: readonly (readonly [RegExp, string])[] = [
  [/-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[A-Za-z0-9+/=\s\\:,-]{0,16384}/g, mask],
  // whole header lines: their values have spaces and semicolons
  [
    /(\b(?:set-cookie|cookie|(?:proxy-)?authorization)\b\\{0,3}["']?\s{0,3}[:=]\s{0,3}\\{0,3}["']?)[^\r\n"'\\]{1,16384}/gi,
    `$1${mask}`
  ],
  // scheme://user:password@host; up to the last @, since passwords may hold one; first, as the user may be called "password"
  [/([a-z][a-z0-9+.-]{0,30}:\/\/[^\s:@/"'<>]{0,128}:)[^\s"'<>]{1,1024}@/gi, `$1${mask}@`],
  // name: value, name=value, "name": "value"
  ...values.map(([value, shown]) => [named(value), `$1${shown}`] as const),
  [/\b(bearer)\s{1,3}[A-Za-z0-9._~+/=-]{6,16384}/gi, `$1 ${mask}`],
  [/(?<![\w-])eyJ[A-Za-z0-9_-]{8,16384}\.[A-Za-z0-9_-]{4,16384}(?:\.[A-Za-z0-9_-]{0,16384})?/g, mask],
  [
    /\b(?:gh[pousr]_[A-Za-z0-9]{20,255}|github_pat_\w{20,255}|A[KS]IA[A-Z0-9]{16}|xox[abprs]-[A-Za-z0-9-]{10,255}|sk-[A-Za-z0-9_-]{20,255})/g,
    mask
  ]
]

/** Masks obvious secrets in free text such as log lines and error messages: named values, bearer tokens, passwords in URLs, keys. */
export function maskText(text: string): string {
  return rules.reduce((masked, [pattern, replacement]) => masked.replace(pattern, replacement), text)
}

/** The same, and the values of these names, which are compared by `comparableName`. */
export function textMask(added: readonly string[]): MaskText {
  const names = added.map(comparableName)
  if (names.length === 0) return maskText
  return (text) => {
    const masked = maskText(text)
    const compared = comparableName(masked)
    const found = names.filter((name) => compared.includes(name))
    return found.length === 0 ? masked : maskAdded(masked, found)
  }
}

/** What may stand between a name and its separator, the rest of a longer name first; the full-width colon is what Chinese texts have. */
const separator = /(?=[:=：])(?<=([\p{L}\p{M}\p{N}_.-]{0,20})(\\{0,7}["']?\s{0,3}))[:=：]\s{0,3}/gu
/** A name with a separator behind each character, and the rest of a longer one. */
const headLength = 2 * sensitiveKeyLimits.length + 20
const valuesHere = values.map(([value, shown]) => [new RegExp(value, 'y'), shown] as const)

/*
 * A hundred names in one expression take minutes for a hostile text. Here each separator is found first, and what stands before it is
 * compared with the names: a bounded piece, so that the time is proportional to the length whatever the names are.
 */
function maskAdded(text: string, names: readonly string[]): string {
  const parts: string[] = []
  let copiedTo = 0
  for (const { 0: whole, 1: rest = '', 2: between = '', index } of text.matchAll(separator)) {
    const headEnd = index - between.length
    if (index < copiedTo || !endsInName(text.slice(Math.max(0, headEnd - headLength), headEnd), rest, names)) continue
    const start = index + whole.length
    const found = valueAt(text, start)
    if (!found) continue
    parts.push(text.slice(copiedTo, start), found.shown)
    copiedTo = found.end
  }
  parts.push(text.slice(copiedTo))
  return parts.join('')
}

/** Whether one of the names ends within `rest`, which `head` ends with. */
function endsInName(head: string, rest: string, names: readonly string[]): boolean {
  const compared = comparableName(head)
  const from = compared.length - comparableName(rest).length
  return names.some((name) => compared.includes(name, from - name.length))
}

function valueAt(text: string, start: number): { readonly shown: string; readonly end: number } | undefined {
  for (const [pattern, shown] of valuesHere) {
    pattern.lastIndex = start
    if (pattern.test(text)) return { shown, end: pattern.lastIndex }
  }
  return undefined
}
