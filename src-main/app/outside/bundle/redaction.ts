import { isIP } from 'node:net'
import { maskText } from '../../../kernel/index.ts'

/** Names that may lead to a machine or a person, by what stands in their place. */
export interface PrivateNames {
  readonly hosts: readonly string[]
  readonly users: readonly string[]
  readonly databases: readonly string[]
  /** Folders, with what is written in their place. */
  readonly folders: readonly (readonly [path: string, shown: string])[]
}

export interface RedactionOptions {
  /** Knows the secrets that entered the process. */
  readonly redact: (text: string) => string
  readonly names: PrivateNames
  /** The user wants them in. Secrets stay out all the same. */
  readonly withNames: boolean
}

/** They are on every machine and name none. */
const everywhere = new Set(['localhost', '127.0.0.1', '::1', '0.0.0.0', '%'])
const addresses = [
  /(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?!\.?\d)/g,
  /(?<![\w:])[0-9a-f]{0,4}(?::[0-9a-f]{0,4}){2,7}(?!\w)/gi
]

/** What leaves the app in a bundle goes through this: secrets never, names only when the user has ticked them. */
export class Redaction {
  private readonly options: RedactionOptions
  private readonly hosts = new Map<string, string>()
  private readonly patterns: readonly (readonly [RegExp, string])[]

  constructor(options: RedactionOptions) {
    this.options = options
    const { hosts, users, databases, folders } = options.names
    for (const host of [...new Set(hosts)].filter((name) => name !== '' && !everywhere.has(name)))
      this.hosts.set(host, `host-${this.hosts.size + 1}`)
    const rules = [
      ...folders.map(([path, shown]) => [path, shown, ''] as const),
      ...[...this.hosts].map(([host, shown]) => [host, shown, 'i'] as const),
      ...users.map((user) => [user, '[user]', ''] as const),
      ...databases.map((name) => [name, '[database]', ''] as const)
    ]
    // Longest first: `db` must not break `db.example.com` apart.
    const ordered = rules.filter(([name]) => name !== '').sort(([a], [b]) => b.length - a.length)
    this.patterns = ordered.map(([name, shown, flags]) => [wordPattern(name, flags), shown])
  }

  /** Texts that anybody may have written: log lines, messages, notes. */
  freeText(text: string): string {
    const clean = this.secretFree(text)
    if (this.options.withNames) return clean
    const named = this.patterns.reduce((masked, [pattern, shown]) => masked.replace(pattern, () => shown), clean)
    const hide = (found: string): string => (isIP(found) === 0 || everywhere.has(found) ? found : '[address]')
    return addresses.reduce((masked, pattern) => masked.replace(pattern, hide), named)
  }

  /** A machine, always by the same stand-in. */
  host(name: string): string {
    return this.options.withNames ? this.secretFree(name) : (this.hosts.get(name) ?? 'host')
  }

  /** A person. */
  user(name: string): string {
    return this.options.withNames ? this.secretFree(name) : '[user]'
  }

  /** Every text in a value of ours, whose names (types, codes) are to be kept; a remedy is a statement that may name an account. */
  values<T>(value: T): T {
    return this.deep(value) as T
  }

  private secretFree(text: string): string {
    return maskText(this.options.redact(text))
  }

  private deep(value: unknown, key = ''): unknown {
    if (typeof value === 'string') return key === 'remedy' ? this.freeText(value) : this.secretFree(value)
    if (Array.isArray(value)) return value.map((item) => this.deep(item))
    if (value === null || typeof value !== 'object') return value
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, this.deep(item, name)]))
  }
}

/** As a whole word: a user `app` does not cut `application`. */
function wordPattern(name: string, flags: string): RegExp {
  const literal = name.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)
  return new RegExp(String.raw`(?<![\p{L}\p{N}_])${literal}(?![\p{L}\p{N}_])`, `gu${flags}`)
}
