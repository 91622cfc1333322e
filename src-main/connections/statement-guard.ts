import { AppError } from '../kernel/index.ts'
import type { AccessMode } from './settings.ts'

/*
 * What may be sent over a shared session. In read-only mode this is the outer of three fences: the session's READ ONLY
 * transactions are the next, and the account's grants are the only one that holds against intent.
 */

const readingHeads: ReadonlySet<string> = new Set(['SELECT', 'WITH', 'SHOW', 'EXPLAIN', 'DESCRIBE', 'DESC'])
const writingHeads: ReadonlySet<string> = new Set(['INSERT', 'UPDATE', 'DELETE', 'REPLACE'])
/** These commit whatever transaction is open. */
const definingHeads: ReadonlySet<string> = new Set([
  'CREATE',
  'ALTER',
  'DROP',
  'TRUNCATE',
  'RENAME',
  'ANALYZE',
  'OPTIMIZE'
])

/** In a reading statement these write, lock, or hold the server up. */
const writesOrLocks =
  /\b(?:INSERT|UPDATE|DELETE|INTO|FOR\s+SHARE|LOCK\s+IN\s+SHARE|GET_LOCK|RELEASE_LOCK|RELEASE_ALL_LOCKS|SLEEP|BENCHMARK|LOAD_FILE|NEXTVAL|NEXT\s+VALUE|SETVAL|LASTVAL)\b|:=/i

/** These leave something in the session: a lock, a variable, a temporary table. */
const leavesTraces = /\bGET_LOCK\b|\bTEMPORARY\b|:=|\bINTO\s+@/i

export interface StatementFacts {
  /** First word, upper case. */
  readonly head: string
  readonly reads: boolean
  readonly defines: boolean
  readonly leavesTraces: boolean
}

/** Quoted parts and comments are taken out first; an executable comment is code and makes the text unreadable for us. */
const quotedOrComment =
  /'(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.|"")*"|`(?:[^`]|``)*`|--(?:[ \t].*|$)|#.*|\/\*[\s\S]*?\*\//gm

const known = new Map<string, StatementFacts>()
const knownLimit = 512

/** Facts about one statement. Texts are few and repeat, so they are remembered. */
export function statementFacts(sql: string): StatementFacts {
  const remembered = known.get(sql)
  if (remembered) return remembered
  if (known.size >= knownLimit) known.clear()
  const facts = readStatement(sql)
  known.set(sql, facts)
  return facts
}

function readStatement(sql: string): StatementFacts {
  let executableComment = false
  const code = sql.replace(quotedOrComment, (part) => {
    if (/^\/\*M?!/.test(part)) executableComment = true
    return part.startsWith("'") || part.startsWith('"') ? "''" : part.startsWith('`') ? '``' : ' '
  })
  const head = /^[\s(]*([A-Za-z]+)/.exec(code)?.[1]?.toUpperCase() ?? ''
  const onlyPlanned = (head === 'EXPLAIN' || head === 'DESCRIBE' || head === 'DESC') && !/\bANALYZE\b/i.test(code)
  return {
    head,
    reads: readingHeads.has(head) && !executableComment && (onlyPlanned || !writesOrLocks.test(code)),
    defines: definingHeads.has(head),
    leavesTraces: leavesTraces.test(code)
  }
}

/**
 * Throws READ_ONLY for anything but reading in read-only mode, and BUG for what must not run on a shared session at all
 * (SET, USE, LOCK, BEGIN, COMMIT ...) or not within a transaction (CREATE and its like, which commit it).
 */
export function guardStatement(sql: string, accessMode: AccessMode, inTransaction: boolean): StatementFacts {
  const facts = statementFacts(sql)
  if (accessMode === 'read-only' && !facts.reads) {
    throw new AppError('READ_ONLY', 'user', 'This connection is read-only: switch it to read-write first.', {
      details: { statement: facts.head }
    })
  }
  if (!readingHeads.has(facts.head) && !writingHeads.has(facts.head) && !facts.defines)
    throw new AppError('BUG', 'bug', `${facts.head} must not run on a shared session`)
  if (inTransaction && facts.defines) throw new AppError('BUG', 'bug', `${facts.head} would commit the transaction`)
  return facts
}
