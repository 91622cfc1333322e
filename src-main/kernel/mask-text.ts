/** What stands where a secret was. */
export const mask = '••••'

const secretNames =
  'password|passwd|pwd|passphrase|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|authorization|credentials?|cookie'

const named = (value: string): RegExp =>
  new RegExp(String.raw`((?:${secretNames})[\w-]{0,20}\\{0,7}["']?\s{0,3}[:=]\s{0,3})${value}`, 'gi')

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
  // name: value, name=value, "name": "value"; then the same inside a JSON text that is a string of another
  [named(String.raw`"(?:[^"\\]|\\[^]){0,16384}"?`), `$1"${mask}"`],
  [named(String.raw`\\"(?:[^"\\]|\\[^"\\]|\\\\(?:\\[^]|[^\\])){0,16384}(?:\\")?`), `$1\\"${mask}\\"`],
  [named(String.raw`\\{2,7}"[^"]{0,16384}"?`), `$1"${mask}"`],
  [named(String.raw`'[^']{0,16384}'?`), `$1'${mask}'`],
  [named(String.raw`[^\s"'\\,;&{}[\]()]{1,16384}`), `$1${mask}`],
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
