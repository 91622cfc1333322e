/** Of a statement, characters that are shown at most. */
const longestDigest = 400

/**
 * Literals, comments and what must stay, from left to right. A quote that is never closed (the server cuts long texts) takes the rest.
 * Double quotes are literals too: in a server with ANSI_QUOTES a name is hidden, which does no harm.
 */
const tokens =
  /(?<literal>'(?:[^']|'')*(?:'|$)|"(?:[^"]|"")*(?:"|$))|(?<comment>\/\*[\s\S]*?(?:\*\/|$)|--[ \t\n].*|#.*)|(?<name>`(?:[^`]|``)*(?:`|$)|[A-Za-z_@$\u0080-\uffff][\w$@.\u0080-\uffff]*)|(?<number>\d[\w.]*)/g

/**
 * A statement without its literals, comments and line breaks, for showing: `UPDATE t SET a = ? WHERE id IN (?)`. After a literal with a
 * backslash nothing is shown any more: whether it escapes the quote depends on the session's sql_mode, and a wrong guess would show text.
 */
export function digestOf(statement: string): string {
  const cut = cutAtDoubt(statement)
  const plain = cut.text
    .replace(tokens, (match, ...rest) => {
      const { literal, comment, number } = rest.at(-1) as Record<string, string | undefined>
      if (literal !== undefined || number !== undefined) return '?'
      return comment === undefined ? match : ' '
    })
    // introducers of binary and hexadecimal literals: x'1f' and _utf8'text'
    .replace(/\b(?:[xXbBnN]|_\w+)(?=\?)/g, '')
    .replace(/\?(?:\s*,\s*\?)+/g, '?')
    .replace(/(\(\?\))(?:\s*,\s*\(\?\))+/g, '$1')
    .replace(/\s+/g, ' ')
    .trim()
  const shown = plain.slice(0, longestDigest)
  return cut.doubtful || shown.length < plain.length ? `${shown.trimEnd()} …` : shown
}

function cutAtDoubt(statement: string): { readonly text: string; readonly doubtful: boolean } {
  for (const { index, groups } of statement.matchAll(tokens)) {
    if (groups?.['literal']?.includes('\\')) return { text: `${statement.slice(0, index)}?`, doubtful: true }
  }
  return { text: statement, doubtful: false }
}

const verbs: ReadonlySet<string> = new Set(['SELECT', 'INSERT', 'UPDATE', 'DELETE', 'REPLACE', 'LOAD', 'CALL', 'ALTER'])

/** The statement's first word when it is one that we know, in upper case. */
export function verbOf(statement: string): string | null {
  const verb = /^[\s(]*([A-Za-z]+)/.exec(statement)?.[1]?.toUpperCase()
  return verb !== undefined && verbs.has(verb) ? verb : null
}
