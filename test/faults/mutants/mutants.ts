/*
 * Engines that are broken on purpose. Each edit replaces a text of the real engine that must be there exactly once: when the engine
 * changes, the fixture fails instead of proving nothing.
 */

export interface Edit {
  /** Of the only file below src-main with this name. */
  readonly file: string
  readonly find: string
  readonly replace: string
}

export interface Mutant {
  readonly what: string
  /** See scenarios.ts. */
  readonly scenario: string
  readonly edits: readonly Edit[]
}

const holdsAll = `    task.workerId === fence.workerId &&
    task.attempt === fence.attempt &&
`
const endGuard = `WHERE task.attempt = ended.attempt AND CAST(task.worker_id AS BINARY) <=> CAST(ended.worker AS BINARY)
  AND task.state IN (\${leased})`
const successGuard = 'WHERE task.attempt = ended.attempt AND task.worker_id = ? AND task.state IN (${leased})'
const equalGuard = 'AND attempt = ? AND worker_id = ? AND state IN (${leased})'
const sweepLock = 'ORDER BY id LIMIT ? FOR UPDATE SKIP LOCKED`'

export const mutants: Readonly<Record<string, Mutant>> = {
  'no-fence': {
    what: 'the end of an attempt asks for a leased task only, not for whose and which attempt',
    scenario: 'stale-holder',
    edits: [
      { file: 'held-leases.ts', find: holdsAll, replace: '' },
      { file: 'end-attempts.ts', find: endGuard, replace: 'WHERE task.state IN (${leased})' },
      {
        file: 'end-successes.ts',
        find: successGuard,
        replace: "WHERE COALESCE(?, '') <> '' AND task.state IN (${leased})"
      },
      {
        file: 'end-successes.ts',
        find: equalGuard,
        replace: "AND ? > 0 AND COALESCE(?, '') <> '' AND state IN (${leased})"
      }
    ]
  },
  'owner-only-fence': {
    what: 'the end of an attempt asks for the worker, not for the attempt',
    scenario: 'stale-self',
    edits: [
      { file: 'held-leases.ts', find: '    task.attempt === fence.attempt &&\n', replace: '' },
      {
        file: 'end-attempts.ts',
        find: endGuard,
        replace: endGuard.replace('task.attempt = ended.attempt AND ', '')
      },
      {
        file: 'end-successes.ts',
        find: successGuard,
        replace: successGuard.replace('task.attempt = ended.attempt AND ', '')
      },
      { file: 'end-successes.ts', find: equalGuard, replace: equalGuard.replace('attempt = ?', '? > 0') }
    ]
  },
  'recovery-by-id': {
    what: 'recovery lists without a lock and writes by id alone',
    scenario: 'rewound-by-recovery',
    edits: [
      { file: 'recover.ts', find: sweepLock, replace: 'ORDER BY id LIMIT ?`' },
      { file: 'end-attempts.ts', find: endGuard, replace: '' }
    ]
  },
  'statement-retry': {
    what: 'after a deadlock the statement alone is sent again, in a transaction that is gone',
    scenario: 'deadlocked-settlement',
    edits: [
      {
        file: 'transaction.ts',
        find: '      if (error instanceof AppError && (isRetried(error) || this.session.isBroken)) this.doom = error\n',
        replace: '      if (error instanceof AppError && isRetried(error)) return this.session.execute(sql, values)\n'
      }
    ]
  },
  'client-clock-lease': {
    what: 'the lease is counted from the clock of the claiming machine',
    scenario: 'skewed-claimer',
    edits: [
      {
        file: 'claim.ts',
        find: 'lease_until = NOW(6) + INTERVAL',
        replace: 'lease_until = NOW(6) + INTERVAL ${process.env["CLIENT_SKEW_SECONDS"] ?? 0} SECOND + INTERVAL'
      }
    ]
  },
  'quota-without-lock': {
    what: 'the room of a quota is read and taken up without its gate',
    scenario: 'racing-submitters',
    edits: [
      {
        file: 'quotas.ts',
        find: 'await runner.execute(lockGates(chunk.length), namesOf(chunk))',
        replace: 'void chunk'
      }
    ]
  },
  'limit-without-gate': {
    what: 'running tasks are counted without holding the gate of their limit',
    scenario: 'racing-claimers',
    edits: [
      {
        file: 'gates.ts',
        find: '${selectGates(length, gateColumns)} FOR UPDATE SKIP LOCKED`',
        replace: '${selectGates(length, gateColumns)}`'
      }
    ]
  },
  'client-clock-due': {
    what: 'what is due is decided by the clock of the claiming machine',
    scenario: 'skewed-claimer',
    edits: [
      {
        file: 'claim-lanes.ts',
        find: 'run_at >= ? AND run_at <= NOW(6) AND (deadline_at',
        replace:
          'run_at >= ? AND run_at <= NOW(6) + INTERVAL ${process.env["CLIENT_SKEW_SECONDS"] ?? 0} SECOND AND (deadline_at'
      }
    ]
  }
}
