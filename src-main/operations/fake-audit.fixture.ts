import type { Audit, AuditEntry } from '../audit/index.ts'
import type { AppError } from '../kernel/index.ts'

/** Keeps entries in an array; fails on demand. */
export class FakeAudit implements Audit {
  readonly entries: AuditEntry[] = []
  intentFails: AppError | undefined
  outcomeFails: AppError | undefined
  private readonly now: () => number

  constructor(now: () => number) {
    this.now = now
  }

  intent: Audit['intent'] = async (intent) => {
    await Promise.resolve()
    if (this.intentFails) throw this.intentFails
    const known = this.entries.find(({ requestId }) => requestId === intent.requestId)
    if (known) return { status: 'repeated', entry: known }
    const id = String(this.entries.length + 1)
    this.entries.push({ ...intent, id, at: this.now(), outcome: null, outcomeAt: null })
    return { status: 'new', id }
  }
  outcome: Audit['outcome'] = async (id, outcome) => {
    await Promise.resolve()
    if (this.outcomeFails) throw this.outcomeFails
    const n = Number(id) - 1
    const entry = this.entries[n]
    if (entry && entry.outcome === null) this.entries[n] = { ...entry, outcome, outcomeAt: this.now() }
  }
  findRequest: Audit['findRequest'] = (id) => Promise.resolve(this.entries.find((entry) => entry.requestId === id))
  list: Audit['list'] = () => Promise.resolve(this.entries)
  unsettled: Audit['unsettled'] = () => Promise.resolve(this.entries.filter(({ outcome }) => outcome === null))
  close: Audit['close'] = () => Promise.resolve()
}
