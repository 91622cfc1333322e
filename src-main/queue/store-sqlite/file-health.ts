import { stat } from 'node:fs/promises'
import type { Clock, FileHealth, HealthPart, IndexSize, StatementPlan, TableSize } from '../../kernel/index.ts'
import { dueOfOneOwner, dueOfOneRange } from './claim-choice.ts'
import { QueueFile, type Parameters, type Session } from './queue-file.ts'

/** Sizes are found by walking all pages, in the calling thread: some 0.1 s for this many bytes. */
const walkedBytes = 32 * 1024 * 1024
const walkEveryMs = 60_000

const facts = `
SELECT sqlite_version() AS version, (SELECT page_size FROM pragma_page_size) AS pageBytes,
  (SELECT page_count FROM pragma_page_count) AS pages, (SELECT freelist_count FROM pragma_freelist_count) AS freePages`

const sizes = `
SELECT s.name AS name, m.type AS type, m.tbl_name AS tableName, s.pgsize AS bytes
FROM dbstat AS s JOIN sqlite_master AS m ON m.name = s.name
WHERE s.aggregate = TRUE AND m.tbl_name LIKE 'taskdeck%' ORDER BY s.pgsize DESC LIMIT 200`

interface Facts {
  readonly version: string
  readonly pageBytes: number
  readonly pages: number
  readonly freePages: number
}

interface Size {
  readonly name: string
  readonly type: 'table' | 'index'
  readonly tableName: string
  readonly bytes: number
}

/** What is looked at beside a store, on a connection of its own. */
export interface SqliteHealth {
  look(): Promise<FileHealth>
  close(): Promise<void>
}

/** `type` of tasks that wait makes the plan real. Throws what opening a queue's file throws. */
export async function openSqliteHealth(options: {
  readonly file: string
  readonly clock: Clock
  readonly type: () => string
}): Promise<SqliteHealth> {
  const file = await QueueFile.open({ file: options.file, clock: options.clock, inspect: true })
  let walked: { readonly at: number; readonly sizes: HealthPart<Size[]> } | undefined

  async function look(): Promise<FileHealth> {
    const { clock } = options
    const began = clock.monotonic()
    const [fileBytes, walBytes] = await Promise.all([sizeOf(options.file), sizeOf(`${options.file}-wal`)])
    const seen = await file.read((session) => ({
      ...(session.get<Facts>(facts) ?? noFacts),
      journalMode: session.get<{ journal_mode: string }>('PRAGMA journal_mode')?.journal_mode ?? '',
      plans: plansOf(session, options.type())
    }))
    if (!walked || began - walked.at >= walkEveryMs) walked = { at: began, sizes: await walk(fileBytes) }
    return {
      kind: 'sqlite',
      at: clock.now(),
      ...seen,
      ...{ fileBytes, walBytes },
      tables: mapPart(walked.sizes, tablesOf),
      indexes: mapPart(walked.sizes, indexesOf),
      costMs: clock.monotonic() - began
    }
  }

  async function walk(fileBytes: number): Promise<HealthPart<Size[]>> {
    if (fileBytes > walkedBytes) return { status: 'unknown', gap: { reason: 'large', remedy: null, errno: null } }
    const value = await file.read((session) => (hasSizes(session) ? session.all<Size>(sizes) : null))
    if (value === null) return { status: 'unknown', gap: { reason: 'off', remedy: null, errno: null } }
    return { status: 'known', at: options.clock.now(), value }
  }

  return { look, close: () => file.close() }
}

const noFacts: Facts = { version: '', pageBytes: 0, pages: 0, freePages: 0 }

/** The table of sizes is an option of SQLite's build. */
const hasSizes = (session: Session): boolean =>
  session.get("SELECT 1 AS found FROM pragma_module_list WHERE name = 'dbstat'") !== undefined

/** 0 when there is none: the log is made anew when somebody writes. */
const sizeOf = (file: string): Promise<number> =>
  stat(file).then(
    ({ size }) => size,
    () => 0
  )

function tablesOf(found: readonly Size[]): TableSize[] {
  return found
    .filter(({ type }) => type === 'table')
    .map(({ name, bytes }) => ({
      name,
      rows: null,
      dataBytes: bytes,
      indexBytes: found
        .filter((one) => one.type === 'index' && one.tableName === name)
        .reduce((sum, one) => sum + one.bytes, 0),
      freeBytes: null
    }))
}

const indexesOf = (found: readonly Size[]): IndexSize[] =>
  found.filter(({ type }) => type === 'index').map(({ name, tableName, bytes }) => ({ table: tableName, name, bytes }))

function mapPart<A, B>(part: HealthPart<A>, change: (value: A) => B): HealthPart<B> {
  return part.status === 'known' ? { ...part, value: change(part.value) } : part
}

function plansOf(session: Session, type: string): StatementPlan[] {
  const values = { type, owner: '', priority: 5, at: session.at, limit: 10 }
  return [
    planOf(session, { name: 'claim', sql: dueOfOneRange, values, index: 'taskdeck_task_claim' }),
    planOf(session, { name: 'claimOwner', sql: dueOfOneOwner, values, index: 'taskdeck_task_turn' })
  ]
}

interface Planned {
  readonly name: StatementPlan['name']
  readonly sql: string
  readonly values: Parameters
  readonly index: string
}

function planOf(session: Session, { name, sql, values, index }: Planned): StatementPlan {
  const known = { name, sql: sql.trim(), withoutLock: false, remedy: null, gap: null }
  // INDEXED BY an index that is gone is an error, and so is nothing that a reader has to be told as one.
  const isThere = session.get("SELECT 1 AS found FROM sqlite_master WHERE type = 'index' AND name = :index", { index })
  if (isThere === undefined) return { ...known, steps: [], verdict: 'bad', advice: 'indexMissing' }
  const rows = session.all<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`, values)
  const steps = rows.map(({ detail }) => ({
    access: detail.split(' ')[0] ?? '',
    key: / INDEX (\w+)/.exec(detail)?.[1] ?? null,
    rows: null,
    extra: detail
  }))
  if (steps.some(({ extra }) => extra.includes('TEMP B-TREE')))
    return { ...known, steps, verdict: 'bad', advice: 'sorts' }
  const isSearch = steps[0]?.access === 'SEARCH'
  return { ...known, steps, verdict: isSearch ? 'good' : 'bad', advice: isSearch ? 'inOrder' : 'noIndex' }
}
