import { describe, expect, it } from 'vitest'
import { judgeSettings } from './settings.ts'

const facts = { peakSessions: 40, queueBytes: 1_000 }
const adviceOf = (settings: Record<string, string>, more: Partial<typeof facts> = {}) =>
  Object.fromEntries(
    judgeSettings(new Map(Object.entries(settings)), { ...facts, ...more }).map(({ name, verdict, advice }) => [
      name,
      `${verdict} ${advice}`
    ])
  )

describe('the settings of a server', () => {
  it('are durable, or say what a crash may take', () => {
    expect(adviceOf({ innodb_flush_log_at_trx_commit: '1', log_bin: 'ON', sync_binlog: '1' })).toMatchObject({
      innodb_flush_log_at_trx_commit: 'good commitsDurable',
      sync_binlog: 'good binlogDurable'
    })
    expect(adviceOf({ innodb_flush_log_at_trx_commit: '2', log_bin: 'ON', sync_binlog: '0' })).toMatchObject({
      innodb_flush_log_at_trx_commit: 'look commitsMayBeLost',
      sync_binlog: 'look binlogMayBeLost'
    })
  })

  it('of the binary log matter only where it is written', () => {
    expect(adviceOf({ log_bin: 'OFF', sync_binlog: '0', binlog_format: 'STATEMENT' })).toMatchObject({
      sync_binlog: 'info null',
      binlog_format: 'info null'
    })
    expect(adviceOf({ log_bin: 'ON', binlog_format: 'STATEMENT' })).toMatchObject({
      binlog_format: 'bad statementBinlog'
    })
  })

  it('know the isolation by either name, once', () => {
    expect(adviceOf({ tx_isolation: 'REPEATABLE-READ' })).toEqual({ transaction_isolation: 'info isolationOfOthers' })
    expect(adviceOf({ transaction_isolation: 'READ-COMMITTED', tx_isolation: 'READ-COMMITTED' })).toEqual({
      transaction_isolation: 'good null'
    })
  })

  it('compare the buffer pool with the queue and the limit of sessions with their peak', () => {
    expect(adviceOf({ innodb_buffer_pool_size: '999' })).toEqual({ innodb_buffer_pool_size: 'look poolTooSmall' })
    expect(adviceOf({ innodb_buffer_pool_size: '1000' })).toEqual({ innodb_buffer_pool_size: 'good poolHolds' })
    expect(adviceOf({ max_connections: '100' }, { peakSessions: 85 })).toEqual({
      max_connections: 'look sessionsScarce'
    })
    expect(adviceOf({ max_connections: '100' }, { peakSessions: 84 })).toEqual({ max_connections: 'info null' })
  })

  it('judge nothing by what is unknown', () => {
    const unknown = { peakSessions: null, queueBytes: null }
    expect(judgeSettings(new Map([['innodb_buffer_pool_size', '1']]), unknown)).toMatchObject([{ verdict: 'info' }])
    expect(judgeSettings(new Map([['max_connections', '1']]), unknown)).toMatchObject([{ verdict: 'info' }])
  })
})
