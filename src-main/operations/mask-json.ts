import { comparableName, mask, textMask, type MaskText } from '../kernel/index.ts'

/** Parts of names whose values are always masked. Masking too much is safe; masking too little is not. */
export const builtInKeys: readonly string[] = [
  'password',
  'passwd',
  'pwd',
  'passphrase',
  'secret',
  'token',
  'authorization',
  'credential',
  'apikey',
  'accesskey',
  'privatekey',
  'cookie',
  'session',
  'phone',
  'mobile',
  'path',
  'email',
  'idcard',
  'iban',
  'cardnumber',
  '密码',
  '口令',
  '手机',
  '电话',
  '身份证'
]

export interface MaskedJson {
  readonly text: string
  /** Paths such as `user.phones[0]`, in order, at most `maskedFieldsShown`. */
  readonly maskedFields: string[]
}

export const maskedFieldsShown = 200
const pathLength = 200

/** Hides what is sensitive: by the built-in names, and by those that the user has added. */
export interface Masking {
  readonly text: MaskText
  /**
   * Masks the values of sensitive names at any depth, whole objects and lists included (null stays), and secrets inside other
   * strings. Everything else stays as it is written, byte for byte: numbers never pass through a JavaScript number. Text that is
   * not JSON is masked as free text.
   */
  readonly json: (text: string) => MaskedJson
}

/** `added`: names that `areSensitiveKeys` takes. They never replace the built-in ones. */
export function maskingWith(added: readonly string[]): Masking {
  const text = textMask(added)
  const names = [...builtInKeys, ...added].map(comparableName)
  return {
    text,
    json: (json) => (isJson(json) ? new JsonMasker(json, names, text).run() : { text: text(json), maskedFields: [] })
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

interface Frame {
  readonly kind: 'object' | 'array'
  key: string
  index: number
}

/** One pass over JSON text that is known to be valid. No recursion: nesting may be as deep as the text is long. */
class JsonMasker {
  private readonly text: string
  private readonly names: readonly string[]
  private readonly maskText: MaskText
  private readonly verdicts = new Map<string, boolean>()
  private readonly stack: Frame[] = []
  private readonly parts: string[] = []
  private readonly maskedFields: string[] = []
  private copiedTo = 0

  constructor(text: string, names: readonly string[], maskText: MaskText) {
    this.text = text
    this.names = names
    this.maskText = maskText
  }

  run(): MaskedJson {
    let expectsKey = false
    for (let at = 0; at < this.text.length;) {
      const top = this.stack.at(-1)
      switch (this.text[at]) {
        case '{':
          this.stack.push({ kind: 'object', key: '', index: 0 })
          expectsKey = true
          at++
          break
        case '[':
          this.stack.push({ kind: 'array', key: '', index: 0 })
          expectsKey = false
          at++
          break
        case '}':
        case ']':
          this.stack.pop()
          expectsKey = false
          at++
          break
        case ',':
          if (top) top.index++
          expectsKey = top?.kind === 'object'
          at++
          break
        case '"':
          at = expectsKey && top ? this.member(top, at) : this.stringValue(at)
          expectsKey = false
          break
        default:
          at++ // white space, colons, and the characters of numbers and words
      }
    }
    this.parts.push(this.text.slice(this.copiedTo))
    return { text: this.parts.join(''), maskedFields: this.maskedFields }
  }

  /** A name and, when it is sensitive, its value. Returns where to go on. */
  private member(frame: Frame, at: number): number {
    const end = this.endOfString(at)
    frame.key = JSON.parse(this.text.slice(at, end)) as string
    if (!this.isSensitive(frame.key)) return end
    const start = this.skip(/[\s:]*/y, end)
    if (this.text.startsWith('null', start)) return start + 'null'.length
    return this.replace(start, this.endOfValue(start), `"${mask}"`)
  }

  private stringValue(at: number): number {
    const end = this.endOfString(at)
    const value = JSON.parse(this.text.slice(at, end)) as string
    const masked = this.maskText(value)
    return masked === value ? end : this.replace(at, end, JSON.stringify(masked))
  }

  private replace(start: number, end: number, by: string): number {
    this.parts.push(this.text.slice(this.copiedTo, start), by)
    this.copiedTo = end
    if (this.maskedFields.length < maskedFieldsShown) this.maskedFields.push(this.path())
    return end
  }

  private path(): string {
    let path = ''
    for (const { kind, key, index } of this.stack) {
      if (path.length > pathLength) return `${path.slice(0, pathLength)}…`
      if (kind === 'array') path += `[${index}]`
      else if (/^[\p{L}_$][\p{L}\p{N}_$-]*$/u.test(key)) path += path === '' ? key : `.${key}`
      else path += `[${JSON.stringify(key)}]`
    }
    return path
  }

  private isSensitive(key: string): boolean {
    let verdict = this.verdicts.get(key)
    if (verdict === undefined) {
      const compared = comparableName(key)
      verdict = this.names.some((name) => compared.includes(name))
      this.verdicts.set(key, verdict)
    }
    return verdict
  }

  private endOfValue(start: number): number {
    const first = this.text[start]
    if (first === '"') return this.endOfString(start)
    if (first !== '{' && first !== '[') return this.skip(/[^\s,\]}]*/y, start)
    let depth = 0
    for (let at = start; ;) {
      const char = this.text[at]
      if (char === '"') {
        at = this.endOfString(at)
        continue
      }
      if (char === '{' || char === '[') depth++
      if (char === '}' || char === ']') depth--
      at++
      if (depth === 0) return at
    }
  }

  /** Index behind the closing quote of the string that begins at `start`. */
  private endOfString(start: number): number {
    for (let quote = this.text.indexOf('"', start + 1); ; quote = this.text.indexOf('"', quote + 1)) {
      let escapes = 0
      while (this.text[quote - 1 - escapes] === '\\') escapes++
      if (escapes % 2 === 0) return quote + 1
    }
  }

  private skip(pattern: RegExp, from: number): number {
    pattern.lastIndex = from
    pattern.test(this.text)
    return pattern.lastIndex
  }
}
