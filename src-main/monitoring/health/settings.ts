import type { HealthVerdict, ServerSetting, SettingAdvice } from '../../kernel/index.ts'

/** Global variables that decide how a queue fares on this server. */
export const settingNames = [
  'innodb_flush_log_at_trx_commit',
  'log_bin',
  'sync_binlog',
  'binlog_format',
  'transaction_isolation',
  'tx_isolation',
  'innodb_deadlock_detect',
  'innodb_lock_wait_timeout',
  'innodb_buffer_pool_size',
  'max_connections',
  'read_only'
] as const

export interface SettingFacts {
  /** The most sessions that there ever were at once; null is unknown. */
  readonly peakSessions: number | null
  /** Data and indexes of the queue's tables; null is unknown. */
  readonly queueBytes: number | null
}

type Judged = readonly [HealthVerdict, SettingAdvice | null]
type Judge = (value: string, facts: SettingFacts, all: ReadonlyMap<string, string>) => Judged

/** Above this share of the limit a burst of new workers finds no session. */
const scarceShare = 0.85
/** A claim gives way to a lock for so long at most, s; longer waits pile up behind it. */
const longWaitSeconds = 120

const isOn = (value: string | undefined): boolean => value === 'ON' || value === '1'
const plain: Judged = ['info', null]

/** Pure: each variable by its own value and, where it depends on others, on them. */
const judges: Readonly<Record<string, Judge>> = {
  innodb_flush_log_at_trx_commit: (value) =>
    value === '1' ? ['good', 'commitsDurable'] : ['look', 'commitsMayBeLost'],
  sync_binlog: (value, _, all) => {
    if (!isOn(all.get('log_bin'))) return plain
    return value === '1' ? ['good', 'binlogDurable'] : ['look', 'binlogMayBeLost']
  },
  binlog_format: (value, _, all) =>
    value === 'STATEMENT' && isOn(all.get('log_bin')) ? ['bad', 'statementBinlog'] : plain,
  transaction_isolation: (value) => (value === 'READ-COMMITTED' ? ['good', null] : ['info', 'isolationOfOthers']),
  innodb_deadlock_detect: (value) => (isOn(value) ? ['good', null] : ['look', 'deadlocksUnseen']),
  innodb_lock_wait_timeout: (value) => (Number(value) > longWaitSeconds ? ['look', 'lockWaitLong'] : plain),
  innodb_buffer_pool_size: (value, { queueBytes }) => {
    if (queueBytes === null) return plain
    return Number(value) < queueBytes ? ['look', 'poolTooSmall'] : ['good', 'poolHolds']
  },
  max_connections: (value, { peakSessions }) =>
    peakSessions !== null && peakSessions >= scarceShare * Number(value) ? ['look', 'sessionsScarce'] : plain,
  read_only: (value) => (isOn(value) || /^(?:2|3|NO_LOCK)/.test(value) ? ['look', 'noChanges'] : plain)
}

/** In the order of `settingNames`; a variable that this server does not have is left out. */
export function judgeSettings(found: ReadonlyMap<string, string>, facts: SettingFacts): ServerSetting[] {
  const all = new Map(found)
  const isolation = all.get('transaction_isolation') ?? all.get('tx_isolation')
  if (isolation !== undefined) all.set('transaction_isolation', isolation)
  all.delete('tx_isolation')
  return settingNames.flatMap((name) => {
    const value = all.get(name)
    if (value === undefined) return []
    const [verdict, advice] = judges[name]?.(value, facts, all) ?? plain
    return [{ name, value, verdict, advice }]
  })
}
