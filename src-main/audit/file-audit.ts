import Database from 'better-sqlite3'
import { AppError } from '../kernel/index.ts'
import type { Clock } from '../kernel/index.ts'
import { auditLimits } from './audit-port.ts'
import type { Audit, AuditEntry, Intent, IntentResult } from './audit-port.ts'

/** Why the log cannot be used, in words for the operator. */
export function auditFault(error: unknown): AppError {
  const reason = error instanceof Error ? error.message : String(error)
  const code = error instanceof Database.SqliteError ? error.code : ''
  if (code.startsWith('SQLITE_FULL')) {
    const text =
      'The disk is full, so the audit log cannot record anything: nothing was changed. Free some space and try again.'
    return new AppError('DISK_FULL', 'operational', text, { cause: error })
  }
  const text = `The audit log cannot be used (${reason}), so nothing can be changed. Correct that and try again.`
  return new AppError('AUDIT_UNAVAILABLE', 'operational', text, { cause: error, details: { reason } })
}

const columns = `i.id, i.at, i.actor, i.connection AS connectionId, i.action, i.target, i.count,
  i.request_id AS requestId, i.reason, o.result AS outcome, o.at AS outcomeAt
  FROM intent i LEFT JOIN outcome o ON o.intent = i.id`

type Row = Omit<AuditEntry, 'id'> & { readonly id: number }

/** The log in its SQLite file. */
export class FileAudit implements Audit {
  private readonly db: Database.Database
  private readonly clock: Clock
  private readonly statements: ReturnType<typeof prepareStatements>

  constructor(db: Database.Database, clock: Clock) {
    this.db = db
    this.clock = clock
    this.statements = prepareStatements(db)
  }

  intent(intent: Intent): Promise<IntentResult> {
    return this.settle(() => {
      const { actor, connectionId, action, target, count, requestId, reason } = intent
      const cut = (text: string): string => text.slice(0, auditLimits.text)
      const values = [this.clock.now(), cut(actor), connectionId, action, cut(target), count, requestId, cut(reason)]
      const { changes, lastInsertRowid } = this.statements.addIntent.run(...values)
      if (changes > 0) return { status: 'new', id: String(lastInsertRowid) }
      const entry = this.statements.byRequest.get(requestId) as Row
      return { status: 'repeated', entry: entryOf(entry) }
    })
  }

  outcome(id: string, resultJson: string): Promise<void> {
    return this.settle(() => {
      this.statements.addOutcome.run(Number(id), this.clock.now(), resultJson.slice(0, auditLimits.result))
    })
  }

  findRequest(requestId: string): Promise<AuditEntry | undefined> {
    return this.settle(() => {
      const row = this.statements.byRequest.get(requestId) as Row | undefined
      return row && entryOf(row)
    })
  }

  list(limit: number, before: string | null = null): Promise<AuditEntry[]> {
    return this.rows(this.statements.page, before === null ? Number.MAX_SAFE_INTEGER : Number(before), limit)
  }

  unsettled(limit: number): Promise<AuditEntry[]> {
    return this.rows(this.statements.unsettled, limit)
  }

  close(): Promise<void> {
    return this.settle(() => void this.db.close())
  }

  private rows(statement: Database.Statement, ...values: number[]): Promise<AuditEntry[]> {
    const limit = Math.min(values.pop() ?? 0, auditLimits.page)
    return this.settle(() => (statement.all(...values, limit) as Row[]).map(entryOf))
  }

  /** The port is asynchronous, so that the file can move to a thread of its own. */
  private settle<T>(work: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      try {
        resolve(work())
      } catch (error) {
        reject(error instanceof Database.SqliteError ? auditFault(error) : (error as Error))
      }
    })
  }
}

const entryOf = (row: Row): AuditEntry => ({ ...row, id: String(row.id) })

function prepareStatements(db: Database.Database) {
  return {
    addIntent: db.prepare(
      `INSERT INTO intent (at, actor, connection, action, target, count, request_id, reason)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (request_id) DO NOTHING`
    ),
    addOutcome: db.prepare('INSERT INTO outcome (intent, at, result) VALUES (?, ?, ?) ON CONFLICT (intent) DO NOTHING'),
    byRequest: db.prepare(`SELECT ${columns} WHERE i.request_id = ?`),
    page: db.prepare(`SELECT ${columns} WHERE i.id < ? ORDER BY i.id DESC LIMIT ?`),
    unsettled: db.prepare(`SELECT ${columns} WHERE o.intent IS NULL ORDER BY i.id LIMIT ?`)
  }
}

/** Stands in for a log that cannot be used: refuses everything with the reason. */
export class UnavailableAudit implements Audit {
  private readonly fault: AppError

  constructor(fault: AppError) {
    this.fault = fault
  }

  intent(): Promise<IntentResult> {
    return Promise.reject(this.fault)
  }
  outcome(): Promise<void> {
    return Promise.reject(this.fault)
  }
  findRequest(): Promise<AuditEntry | undefined> {
    return Promise.reject(this.fault)
  }
  list(): Promise<AuditEntry[]> {
    return Promise.reject(this.fault)
  }
  unsettled(): Promise<AuditEntry[]> {
    return Promise.reject(this.fault)
  }
  close(): Promise<void> {
    return Promise.resolve()
  }
}
