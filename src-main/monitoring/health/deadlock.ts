import { verbOf } from './digest.ts'
import { tableOf, taskTable } from './lock-data.ts'

/** One transaction of the last deadlock, as far as the server's report can be trusted. */
export interface ReportedParty {
  readonly sessionId: string | null
  readonly host: string | null
  readonly user: string | null
  readonly verb: string | null
  /** It was a claim: nothing else passes locked rows. */
  readonly claims: boolean
  readonly rolledBack: boolean
  readonly waitsFor: { readonly table: string; readonly index: string | null; readonly mode: string } | null
  /** The task whose row it waited for. */
  readonly taskId: string | null
}

export interface ReportedDeadlock {
  readonly agoMs: number | null
  readonly parties: readonly ReportedParty[]
}

/** More transactions than this are not read. */
const mostParties = 8

const section = /-{4,}\nLATEST DETECTED DEADLOCK\n-{4,}\n([\s\S]*?)(?=\n-{4,}\n[A-Z][A-Z /]+\n-{4,}|$)/
const stamp = /^(\d{4})-(\d\d)-(\d\d) +(\d{1,2}):(\d\d):(\d\d)/
const header = /^\*\*\* \((\d+)\) TRANSACTION:$/
const thread = /^(?:MariaDB|MySQL) thread id (\d+), .*query id \d+(?: (.*))?$/
const waiting = /^\*\*\* (?:\(\d+\) )?WAITING FOR THIS LOCK TO BE GRANTED:$/
const recordLock =
  /^RECORD LOCKS .* index (\S+) of table (`.*`|\S+) trx id \S+ lock_mode (.+?)(?: waiting)?(?: Record lock)?$/
const tableLock = /^TABLE LOCK table (`.*`|\S+) trx id \S+ lock mode (\S+)/
const firstField = /^ 0: len 8; hex ([0-9a-f]{16});/
const victim = /^\*\*\* WE ROLL BACK TRANSACTION \((\d+)\)$/

/**
 * The last deadlock out of SHOW ENGINE INNODB STATUS; null when the server has not had one since it started. The report has values of
 * rows and of statements in it: only ids, names of tables and indexes, modes of locks, and the statement's first word are taken out.
 */
export function readDeadlock(status: string): ReportedDeadlock | null {
  const text = section.exec(status)?.[1]
  if (text === undefined) return null
  const lines = text.split('\n').map((line) => line.trimEnd())
  const victims = new Set(lines.flatMap((line) => victim.exec(line)?.[1] ?? []))
  const starts = lines.flatMap((line, index) => {
    const number = header.exec(line)?.[1]
    return number === undefined ? [] : [{ number, index }]
  })
  const parties = starts.slice(0, mostParties).map(({ number, index }, position) => {
    const block = lines.slice(index + 1, starts[position + 1]?.index)
    return { ...readParty(block), rolledBack: victims.has(number) }
  })
  return { agoMs: agoOf(status, lines[0] ?? ''), parties }
}

function readParty(block: readonly string[]): Omit<ReportedParty, 'rolledBack'> {
  const at = block.findIndex((line) => thread.test(line))
  const [, sessionId = null, origin = ''] = thread.exec(block[at] ?? '') ?? []
  const statement = at < 0 ? '' : statementAfter(block, at)
  const [host = null, user = null] = originOf(origin)
  return {
    sessionId,
    host,
    user,
    verb: verbOf(statement),
    claims: /\bFOR UPDATE SKIP LOCKED\s*$/i.test(statement),
    ...awaited(block)
  }
}

/** Its text goes on until the report does. */
function statementAfter(block: readonly string[], threadAt: number): string {
  const rest = block.slice(threadAt + 1)
  const end = rest.findIndex((line) => /^(?:\*\*\* |RECORD LOCKS |TABLE LOCK |---)/.test(line))
  return rest.slice(0, end < 0 ? undefined : end).join('\n')
}

/** `worker-2 10.0.0.7 taskdeck Updating`: the name of the host may be missing, and so may the state. Without an address nothing is sure. */
function originOf(origin: string): string[] {
  const words = origin.split(' ').filter((word) => word !== '')
  const address = words.findIndex((word) => /^(?:\d{1,3}(?:\.\d{1,3}){3}|[0-9a-f:]*:[0-9a-f:]*|localhost)$/i.test(word))
  return address < 0 ? [] : words.slice(address, address + 2)
}

function awaited(block: readonly string[]): Pick<ReportedParty, 'waitsFor' | 'taskId'> {
  const at = block.findIndex((line) => waiting.test(line))
  const line = block[at + 1] ?? ''
  if (at < 0) return { waitsFor: null, taskId: null }
  const [, index, table, mode] = recordLock.exec(line) ?? []
  if (index !== undefined && table !== undefined && mode !== undefined) {
    const waitsFor = { table: tableOf(table), index: index.replaceAll('`', ''), mode }
    return { waitsFor, taskId: rowOf(block.slice(at + 2), waitsFor) }
  }
  const [, lockedTable, tableMode] = tableLock.exec(line) ?? []
  if (lockedTable === undefined || tableMode === undefined) return { waitsFor: null, taskId: null }
  return { waitsFor: { table: tableOf(lockedTable), index: null, mode: tableMode }, taskId: null }
}

/** The primary key of a task is the first field of its row, eight bytes. */
function rowOf(lines: readonly string[], { table, index }: { table: string; index: string }): string | null {
  if (table !== taskTable || index !== 'PRIMARY') return null
  for (const line of lines) {
    if (/^(?:\*\*\* |RECORD LOCKS )/.test(line)) return null
    const hex = firstField.exec(line)?.[1]
    if (hex !== undefined) return BigInt(`0x${hex}`).toString()
  }
  return null
}

/** Both stamps are the server's local time; across a change of its clock the difference is off by as much. */
function agoOf(status: string, deadlockLine: string): number | null {
  const now = status.split('\n').find((line) => stamp.test(line) && line.includes('INNODB MONITOR OUTPUT'))
  const [seen, happened] = [timeOf(now ?? ''), timeOf(deadlockLine)]
  return seen === null || happened === null ? null : Math.max(0, seen - happened)
}

function timeOf(line: string): number | null {
  const parts = stamp.exec(line)?.slice(1).map(Number)
  if (!parts) return null
  const [year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0] = parts
  return Date.UTC(year, month - 1, day, hour, minute, second)
}
