import type { DatabaseHealth, HealthGap, LockWait, OpenTransaction, StatementPlan } from '@contract'

/** What the fake app sees of a database: in trouble, well, or with an account that may see little. */
export type DatabaseScene = 'waiting' | 'well' | 'blind'

const part = <T>(at: number, value: T): { status: 'known'; at: number; value: T } => ({ status: 'known', at, value })

function transaction(change: Partial<OpenTransaction>): OpenTransaction {
  return {
    sessionId: '812',
    account: 'taskdeck',
    host: '10.20.4.11',
    ageMs: 2_000,
    waiting: false,
    idle: false,
    isolation: 'READ COMMITTED',
    rowsLocked: 12,
    rowsChanged: 10,
    statement: null,
    workers: [],
    tie: 'none',
    ...change
  }
}

const settle =
  'UPDATE taskdeck_task FORCE INDEX (PRIMARY) SET state = ?, finished_at = NOW(?) WHERE id = ? AND attempt = ?'

function lockWaits(): LockWait[] {
  const blocking = transaction({
    sessionId: '9041',
    account: 'reporting',
    host: 'bi-02',
    ageMs: 194_000,
    idle: true,
    isolation: 'REPEATABLE READ',
    rowsLocked: 48_211,
    rowsChanged: 0
  })
  const task = (taskId: string, workerId: string): LockWait['task'] => ({
    taskId,
    type: 'import.medical',
    state: 'RUNNING',
    workerId
  })
  return [
    {
      waiting: transaction({
        sessionId: '812',
        host: 'clinic-worker-2',
        waiting: true,
        statement: settle,
        workers: ['imp-03'],
        tie: 'lease'
      }),
      blocking,
      waitedMs: 41_000,
      table: 'taskdeck_task',
      index: 'PRIMARY',
      mode: 'X,REC_NOT_GAP',
      task: task('48211720', 'imp-03')
    },
    {
      waiting: transaction({
        sessionId: '815',
        host: 'clinic-worker-3',
        waiting: true,
        statement: settle,
        workers: ['imp-06', 'imp-10', 'imp-02'],
        tie: 'host'
      }),
      blocking,
      waitedMs: 12_000,
      table: 'taskdeck_task',
      index: 'PRIMARY',
      mode: 'X,REC_NOT_GAP',
      task: task('48211703', 'imp-11')
    },
    {
      waiting: transaction({ sessionId: '822', waiting: true, statement: 'DELETE FROM taskdeck_gate WHERE kind = ?' }),
      blocking,
      waitedMs: 3_000,
      table: 'taskdeck_gate',
      index: 'PRIMARY',
      mode: 'X,REC_NOT_GAP',
      task: null
    }
  ]
}

export const demoPlans: StatementPlan[] = [
  {
    name: 'groups',
    sql: 'SELECT claim_rank, type, run_at, run_at <= NOW(6) AS due\nFROM taskdeck_task FORCE INDEX (taskdeck_task_claim)\nWHERE (claim_rank = ? AND type >= ?) OR (claim_rank > ? AND claim_rank < 10)\nORDER BY claim_rank, type, run_at, id LIMIT 1',
    withoutLock: false,
    steps: [{ access: 'range', key: 'taskdeck_task_claim', rows: 12_480, extra: 'Using where; Using index' }],
    verdict: 'good',
    advice: 'jumps',
    remedy: null,
    gap: null
  },
  {
    name: 'claim',
    sql: 'SELECT id, type, payload, title, owner\nFROM taskdeck_task FORCE INDEX (taskdeck_task_claim)\nWHERE claim_rank = ? AND type = ? AND run_at >= ? AND run_at <= NOW(6) AND (deadline_at IS NULL OR deadline_at > NOW(6))\nORDER BY run_at, id LIMIT ? FOR UPDATE SKIP LOCKED',
    withoutLock: true,
    steps: [{ access: 'range', key: 'taskdeck_task_claim', rows: 11_204, extra: 'Using index condition; Using where' }],
    verdict: 'good',
    advice: 'inOrder',
    remedy: null,
    gap: null
  },
  {
    name: 'claimOwner',
    sql: 'SELECT id, type, payload, title, owner\nFROM taskdeck_task FORCE INDEX (taskdeck_task_turn)\nWHERE claim_rank = ? AND type = ? AND owner = ? AND run_at >= ? AND run_at <= NOW(6)\nORDER BY run_at, id LIMIT ? FOR UPDATE SKIP LOCKED',
    withoutLock: true,
    steps: [{ access: 'range', key: 'taskdeck_task_turn', rows: 1, extra: 'Using index condition; Using where' }],
    verdict: 'good',
    advice: 'inOrder',
    remedy: null,
    gap: null
  }
]

const MiB = 1_048_576
const tables = [
  { name: 'taskdeck_task', rows: 2_814_000, dataBytes: 2_410 * MiB, indexBytes: 1_122 * MiB, freeBytes: 7 * MiB },
  { name: 'taskdeck_attempt', rows: 3_306_000, dataBytes: 611 * MiB, indexBytes: 208 * MiB, freeBytes: 4 * MiB },
  { name: 'taskdeck_log', rows: 1_120_400, dataBytes: 190 * MiB, indexBytes: 41 * MiB, freeBytes: 5 * MiB },
  { name: 'taskdeck_dead_letter', rows: 41_200, dataBytes: 38 * MiB, indexBytes: 9 * MiB, freeBytes: 4 * MiB },
  { name: 'taskdeck_artifact', rows: 9_800, dataBytes: 3 * MiB, indexBytes: 0.4 * MiB, freeBytes: 0 },
  { name: 'taskdeck_worker', rows: 14, dataBytes: 16_384, indexBytes: 16_384, freeBytes: 0 }
]
const indexes = [
  { table: 'taskdeck_task', name: 'PRIMARY', bytes: 2_410 * MiB },
  { table: 'taskdeck_attempt', name: 'PRIMARY', bytes: 611 * MiB },
  { table: 'taskdeck_task', name: 'taskdeck_task_finished', bytes: 344 * MiB },
  { table: 'taskdeck_task', name: 'taskdeck_task_created', bytes: 301 * MiB },
  { table: 'taskdeck_task', name: 'taskdeck_task_idempotency', bytes: 288 * MiB },
  { table: 'taskdeck_attempt', name: 'taskdeck_attempt_ended', bytes: 208 * MiB },
  { table: 'taskdeck_task', name: 'taskdeck_task_claim', bytes: 96 * MiB },
  { table: 'taskdeck_task', name: 'taskdeck_task_turn', bytes: 93 * MiB }
]

const gap = (reason: HealthGap['reason'], remedy: string | null): { status: 'unknown'; gap: HealthGap } => ({
  status: 'unknown',
  gap: { reason, remedy, errno: 1227 }
})

export function demoServer(scene: DatabaseScene, at: number): DatabaseHealth {
  const isBlind = scene === 'blind'
  const process = gap('rights', "GRANT PROCESS ON *.* TO 'taskdeck_ro'@'%'")
  const waits = scene === 'waiting' ? lockWaits() : []
  const open = [
    ...waits.slice(0, 1).map(({ blocking }) => blocking),
    ...waits.map(({ waiting, waitedMs }) => ({ ...waiting, ageMs: waitedMs ?? 0 })),
    transaction({
      sessionId: '830',
      host: 'clinic-worker-1',
      ageMs: 0,
      rowsLocked: 20,
      rowsChanged: 20,
      statement: settle
    })
  ]
  return {
    kind: 'mysql',
    at,
    costMs: 18,
    statements: isBlind ? 4 : 6,
    flavour: 'mysql',
    version: '8.0.36',
    counters: part(at, {
      sessions: 41,
      mostSessions: 151,
      peakSessions: 133,
      running: 3,
      rowLockWaits: 1_204,
      rowLockTimeMs: 88_210,
      deadlocks: isBlind ? null : 2,
      uptimeMs: 1_051_200_000
    }),
    settings: part(at, [
      { name: 'innodb_flush_log_at_trx_commit', value: '1', verdict: 'good', advice: 'commitsDurable' },
      { name: 'log_bin', value: 'ON', verdict: 'info', advice: null },
      { name: 'sync_binlog', value: '0', verdict: 'look', advice: 'binlogMayBeLost' },
      { name: 'binlog_format', value: 'ROW', verdict: 'info', advice: null },
      { name: 'transaction_isolation', value: 'REPEATABLE-READ', verdict: 'info', advice: 'isolationOfOthers' },
      { name: 'innodb_deadlock_detect', value: 'ON', verdict: 'good', advice: null },
      { name: 'innodb_lock_wait_timeout', value: '50', verdict: 'info', advice: null },
      { name: 'innodb_buffer_pool_size', value: String(2_048 * MiB), verdict: 'look', advice: 'poolTooSmall' },
      { name: 'max_connections', value: '151', verdict: 'look', advice: 'sessionsScarce' },
      { name: 'read_only', value: 'OFF', verdict: 'info', advice: null }
    ]),
    accounts: part(
      at,
      isBlind
        ? [{ account: 'taskdeck_ro', sessions: 4, active: 1 }]
        : [
            { account: 'taskdeck', sessions: 29, active: 2 },
            { account: 'clinic_app', sessions: 8, active: 1 },
            { account: 'reporting', sessions: 3, active: 0 },
            { account: 'taskdeck_ro', sessions: 1, active: 0 }
          ]
    ),
    waits: isBlind ? process : part(at, waits),
    transactions: isBlind ? process : part(at, { open, more: false, unpurged: scene === 'waiting' ? 418_204 : 1_204 }),
    deadlock: isBlind ? process : part(at, demoDeadlock()),
    plans: demoPlans,
    tables: part(at, tables),
    indexes: isBlind
      ? gap('rights', "GRANT SELECT ON mysql.innodb_index_stats TO 'taskdeck_ro'@'%'")
      : part(at, indexes),
    replicas: isBlind
      ? gap('rights', "GRANT REPLICATION CLIENT ON *.* TO 'taskdeck_ro'@'%'")
      : part(at, [{ name: '', lagMs: 2_000, reads: true, applies: true, errno: 0 }])
  }
}

function demoDeadlock(): Extract<Extract<DatabaseHealth, { kind: 'mysql' }>['deadlock'], { status: 'known' }>['value'] {
  const party = { rolledBack: false, claims: false, workers: [], tie: 'none' as const }
  return {
    agoMs: 5_240_000,
    parties: [
      {
        ...party,
        sessionId: '701',
        account: 'clinic_app',
        host: '10.20.4.30',
        verb: 'UPDATE',
        waitsFor: { table: 'taskdeck_task', index: 'taskdeck_task_business_key', mode: 'X locks rec but not gap' },
        task: null
      },
      {
        ...party,
        sessionId: '688',
        account: 'taskdeck',
        host: 'clinic-worker-2',
        verb: 'UPDATE',
        rolledBack: true,
        waitsFor: { table: 'taskdeck_task', index: 'PRIMARY', mode: 'X locks rec but not gap' },
        task: { taskId: '48198220', type: 'invoice.issue', state: 'SUCCESS', workerId: null },
        workers: ['imp-03', 'imp-07'],
        tie: 'host'
      }
    ]
  }
}

export function demoFile(at: number): DatabaseHealth {
  return {
    kind: 'sqlite',
    at,
    costMs: 3,
    version: '3.50.4',
    fileBytes: 18.4 * MiB,
    walBytes: 4.1 * MiB,
    pageBytes: 4_096,
    pages: 4_710,
    freePages: 212,
    journalMode: 'wal',
    plans: demoPlans.slice(1).map((plan) => ({
      ...plan,
      withoutLock: false,
      steps: plan.steps.map(({ key }) => ({
        access: 'SEARCH',
        key,
        rows: null,
        extra: `SEARCH taskdeck_task USING INDEX ${key} (type=? AND priority=? AND run_at<?)`
      }))
    })),
    tables: part(at, [
      { name: 'taskdeck_task', rows: null, dataBytes: 9.1 * MiB, indexBytes: 3.2 * MiB, freeBytes: null },
      { name: 'taskdeck_attempt', rows: null, dataBytes: 2.2 * MiB, indexBytes: 0.8 * MiB, freeBytes: null },
      { name: 'taskdeck_log', rows: null, dataBytes: 1.4 * MiB, indexBytes: 0.5 * MiB, freeBytes: null }
    ]),
    indexes: part(at, [
      { table: 'taskdeck_task', name: 'taskdeck_task_claim', bytes: 0.9 * MiB },
      { table: 'taskdeck_task', name: 'taskdeck_task_created', bytes: 0.8 * MiB },
      { table: 'taskdeck_attempt', name: 'taskdeck_attempt_ended', bytes: 0.8 * MiB }
    ])
  }
}
