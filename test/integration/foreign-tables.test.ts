import { randomBytes } from 'node:crypto'
import mysql, { type Connection } from 'mysql2/promise'
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest'
import { StopStack, type QueueReading, type TaskState } from '../../src-main/kernel/index.ts'
import { parseProfile, type TableProfile } from '../../src-main/schema-profiles/index.ts'
import {
  makeAdvisedIndexes,
  shippedProfile,
  thesisTable,
  watchTable,
  type WatchedTable
} from '../support/foreign-table.ts'
import { tenThousand } from '../bench/numbers.ts'
import { createTestDatabase, type TestDatabase } from '../support/mariadb.ts'

/*
 * Tables that are not ours, read by a profile: figures are those of a full count, or say what they are; nothing runs without its index, its
 * limit and its end.
 */

let ends: StopStack
let made: TestDatabase
/** Has all rights: makes tables, and looks at the server. */
let owner: Connection
/** May read one table, and nothing else. */
let account: { readonly user: string; readonly url: string }

beforeEach(async () => {
  ends = new StopStack()
  made = await createTestDatabase(inject('mariadbUrl'), 'foreign')
  ends.add(() => made.drop())
  owner = await mysql.createConnection({ uri: made.url, multipleStatements: true, timezone: 'Z', dateStrings: true })
  ends.add(() => owner.end())
  await owner.query("SET SESSION time_zone = '+00:00'")
})
afterEach(() => ends.stop())

/** Makes the table, and an account with SELECT on it alone. */
async function table(name: string, ddl: string): Promise<void> {
  await owner.query(ddl)
  const user = `reader_${randomBytes(4).toString('hex')}`
  await owner.query(`CREATE USER '${user}'@'127.0.0.1' IDENTIFIED BY 'pw'`)
  ends.add(() => owner.query(`DROP USER IF EXISTS '${user}'@'127.0.0.1'`).then(() => undefined))
  await owner.query(`GRANT SELECT ON ${made.name}.${name} TO '${user}'@'127.0.0.1'`)
  const url = new URL(made.url)
  url.username = user
  url.password = 'pw'
  account = { user, url: url.href }
}

async function watch(profile: TableProfile): Promise<WatchedTable> {
  const watched = await watchTable(account.url, profile)
  ends.add(() => watched.close())
  return watched
}

async function rowsOf(sql: string, values: unknown[] = []): Promise<Record<string, unknown>[]> {
  const [rows] = await owner.query(sql, values)
  return rows as Record<string, unknown>[]
}

const byStateAndType = ({ depth }: QueueReading): Record<string, number> =>
  Object.fromEntries(depth.map(({ state, type, count }) => [`${state} ${type}`, count]))
/** Reasons other than that a table does not say. */
const heldBack = ({ limits }: QueueReading) => limits.filter(({ reason }) => reason !== 'schema')
const nothingRuns = (): Promise<void> =>
  expect
    .poll(
      () =>
        rowsOf("SELECT INFO FROM information_schema.PROCESSLIST WHERE USER = ? AND COMMAND <> 'Sleep'", [account.user]),
      {
        timeout: 10_000
      }
    )
    .toEqual([])

/** So many rows with numbers as `seq`, at most 100,000. */
const numbered = (rows: number): string =>
  `(SELECT n.n * 10 + m.d AS seq FROM (${tenThousand}) AS n CROSS JOIN (${Array.from({ length: 10 }, (_, d) => `SELECT ${d} AS d`).join(' UNION ALL ')}) AS m) AS numbers WHERE seq < ${rows}`

const statuses = ['PENDING', 'RETRYING', 'RUNNING', 'PAUSED', 'SUCCESS', 'FAILED', 'CANCELLED', 'UNHEARD_OF']

/** Rows of every status and type, at random, with moments around now. */
async function fillThesis(rows: number): Promise<void> {
  await owner.query(
    `INSERT INTO thesis_run_task (task_type, status, enabled, next_retry_at, created_at, finished_at)
     SELECT IF(kind = 0, NULL, CONCAT('type-', kind)), status, enabled, IF(status = 'RETRYING', UTC_TIMESTAMP() + INTERVAL 60 - r2 SECOND, NULL),
       UTC_TIMESTAMP() - INTERVAL r1 SECOND, IF(status IN ('SUCCESS', 'FAILED', 'CANCELLED'), UTC_TIMESTAMP() - INTERVAL r3 SECOND, NULL)
     FROM (SELECT FLOOR(RAND(1) * 5) AS kind, ELT(1 + FLOOR(RAND(2) * ${statuses.length}), ${statuses.map((one) => `'${one}'`).join(', ')}) AS status,
       IF(RAND(3) < 0.9, 1, 0) AS enabled, FLOOR(RAND(4) * 900) AS r1, FLOOR(RAND(5) * 300) AS r2, FLOOR(RAND(6) * 400) AS r3
       FROM ${numbered(rows)} LIMIT ${rows}) AS made`
  )
  await owner.query('ANALYZE TABLE thesis_run_task')
}

const name = "COALESCE(task_type, '(none)')"

/** What the profile says, counted in full. */
async function fullCount(): Promise<Record<string, number>> {
  const rows = await rowsOf(
    `SELECT CASE WHEN status = 'PENDING' AND enabled THEN 'QUEUED' WHEN status = 'RETRYING' AND enabled THEN 'RETRY_WAIT'
       WHEN status = 'RUNNING' THEN 'RUNNING' ELSE 'PAUSED' END AS state, ${name} AS type, COUNT(*) AS n
     FROM thesis_run_task WHERE status IN ('PENDING', 'RETRYING', 'RUNNING', 'PAUSED') GROUP BY 1, 2`
  )
  return Object.fromEntries(rows.map(({ state, type, n }) => [`${String(state)} ${String(type)}`, Number(n)]))
}

describe('the table of the first article', () => {
  beforeEach(() => table('thesis_run_task', thesisTable))

  it('is read as a full count of every state and type tells, with the indexes that were advised', async () => {
    await fillThesis(30_000)
    const profile = shippedProfile('thesis-run-task')
    const indexes = await makeAdvisedIndexes(account.url, profile, (sql) => owner.query(sql))
    expect(indexes).toContain(
      'CREATE INDEX `taskdeck_finished_at_status_task_type` ON `thesis_run_task` (`finished_at`, `status`, `task_type`)'
    )
    const watched = await watch(profile)
    const reading = await watched.read()
    expect(heldBack(reading)).toEqual([])
    expect(byStateAndType(reading)).toEqual(await fullCount())
    expect(reading.depth.filter(({ accuracy }) => accuracy !== undefined)).toEqual([])

    const at = new Date(reading.at).toISOString().slice(0, 23).replace('T', ' ')
    const due = `(status = 'PENDING' AND created_at <= '${at}' OR status = 'RETRYING' AND next_retry_at <= '${at}') AND enabled`
    const since = "IF(status = 'PENDING', created_at, next_retry_at)"
    const oldest = await rowsOf(
      `SELECT ${name} AS type, MIN(${since}) AS since FROM thesis_run_task WHERE ${due} GROUP BY 1`
    )
    expect(oldest).toHaveLength(5)
    const ages = Object.fromEntries(reading.oldest.map(({ type, ageMs }) => [type, ageMs]))
    expect(ages).toEqual(
      Object.fromEntries(oldest.map((row) => [row['type'], reading.at - Date.parse(`${String(row['since'])}Z`)]))
    )
    for (const { taskId, type } of reading.oldest)
      expect(await rowsOf(`SELECT ${name} AS type FROM thesis_run_task WHERE id = ?`, [taskId])).toEqual([{ type }])

    const within = (column: string, seconds: number): string =>
      `${column} > '${at}' - INTERVAL ${seconds + 10} SECOND AND ${column} <= '${at}' - INTERVAL 10 SECOND`
    const flow = await rowsOf(
      `SELECT ${name} AS type, SUM(${within('created_at', 60)}) AS submitted1m,
         SUM(status IN ('SUCCESS', 'FAILED', 'CANCELLED') AND COALESCE(${within('finished_at', 60)}, 0)) AS finished1m,
         SUM(status IN ('SUCCESS', 'FAILED', 'CANCELLED') AND COALESCE(${within('finished_at', 300)}, 0)) AS ended5m,
         SUM(status = 'FAILED' AND COALESCE(${within('finished_at', 300)}, 0)) AS failed5m
       FROM thesis_run_task GROUP BY 1 ORDER BY 1`
    )
    const figures = flow.map((row) => ({
      type: row['type'],
      ...Object.fromEntries(['submitted1m', 'finished1m', 'ended5m', 'failed5m'].map((key) => [key, Number(row[key])]))
    }))
    expect(figures.every(({ type }) => typeof type === 'string')).toBe(true)
    expect(reading.flow).toMatchObject(figures)
    expect(reading.flow).toHaveLength(figures.length)
    await nothingRuns()
  })

  it('without its indexes is not read: the figures are unknown, with the index that would help', async () => {
    await owner.query('DROP INDEX idx_task_ready ON thesis_run_task')
    await fillThesis(30_000)
    const watched = await watch(shippedProfile('thesis-run-task'))
    const reading = await watched.read()
    expect(
      heldBack(reading)
        .map(({ probe, reason }) => `${probe} ${reason}`)
        .sort()
    ).toEqual(['depth plan', 'ended plan', 'finished plan', 'oldest plan', 'submitted plan'])
    for (const { index } of heldBack(reading))
      expect(index).toMatch(/^CREATE INDEX `taskdeck_\w+` ON `thesis_run_task` \(/)
    expect(reading).toMatchObject({ depth: [], oldest: [], flow: [] })
    // Plans, and what the server tells of columns and sizes: the table has 30,000.
    expect(reading.costRows).toBeLessThan(3_000)
  })

  it('does not walk along an index of moments for a task that may be far behind, whatever other indexes there are', async () => {
    await owner.query(
      'DROP INDEX idx_task_ready ON thesis_run_task; CREATE INDEX by_created ON thesis_run_task (created_at)'
    )
    await owner.query(
      `INSERT INTO thesis_run_task (task_type, status, created_at) SELECT 'a', 'SUCCESS', UTC_TIMESTAMP() - INTERVAL 1 DAY FROM ${numbered(30_000)}`
    )
    await owner.query(
      "INSERT INTO thesis_run_task (id, task_type, status, created_at) VALUES (90001, 'a', 'PENDING', UTC_TIMESTAMP()); ANALYZE TABLE thesis_run_task"
    )
    const profile = shippedProfile('thesis-run-task')
    const reading = await (await watch(profile)).read()
    expect(heldBack(reading).map(({ probe }) => probe)).toContain('oldest')
    expect(reading.costRows).toBeLessThan(3_000)

    // Beside the index that serves it as well.
    await makeAdvisedIndexes(account.url, profile, (sql) => owner.query(sql))
    const healed = await (await watch(profile)).read()
    expect(healed.oldest).toMatchObject([{ type: 'a', taskId: '90001' }])
    expect(healed.costRows).toBeLessThan(3_000)
  })

  it.each([
    ['over an hour', 'seq % 3600'],
    ['in one second', '1200']
  ])(
    'with a long queue that came %s says "about", by type, and knows the oldest all the same',
    async (_how, ageSeconds) => {
      await owner.query(
        `INSERT INTO thesis_run_task (task_type, status, created_at) SELECT CONCAT('type-', seq % 4), 'PENDING', UTC_TIMESTAMP() - INTERVAL ${ageSeconds} SECOND FROM ${numbered(80_000)}`
      )
      await owner.query(
        `INSERT INTO thesis_run_task (task_type, status, created_at) SELECT 'rare', 'PENDING', UTC_TIMESTAMP() - INTERVAL 2 HOUR FROM ${numbered(20)}`
      )
      await owner.query('ANALYZE TABLE thesis_run_task')
      const profile = shippedProfile('thesis-run-task')
      await makeAdvisedIndexes(account.url, profile, (sql) => owner.query(sql))
      const watched = await watch(profile)
      await watched.read()
      const reading = await watched.read()
      expect(heldBack(reading)).toEqual([])
      const [rare, ...long] = reading.depth
      expect(rare).toEqual({ type: 'rare', state: 'QUEUED', count: 20 })
      expect(long.map(({ type, accuracy }) => `${type} ${accuracy ?? 'exact'}`)).toEqual(
        [0, 1, 2, 3].map((n) => `type-${n} about`)
      )
      for (const { count } of long) {
        expect(count).toBeGreaterThan(20_000 / 1.2)
        expect(count).toBeLessThan(20_000 * 1.2)
      }
      expect(reading.oldest[0]).toMatchObject({ type: 'rare' })
      expect(reading.oldest).toHaveLength(5)
      expect(reading.costRows).toBeLessThan(200_000)
    }
  )

  it('with a long queue and no index by type has at least so many, and says what would tell the types apart', async () => {
    await owner.query(
      `INSERT INTO thesis_run_task (task_type, status, created_at) SELECT CONCAT('type-', seq % 4), 'PENDING', UTC_TIMESTAMP() FROM ${numbered(80_000)}`
    )
    await owner.query(
      "INSERT INTO thesis_run_task (task_type, status, created_at) VALUES ('other', 'RUNNING', UTC_TIMESTAMP()); ANALYZE TABLE thesis_run_task"
    )
    const watched = await watch(shippedProfile('thesis-run-task'))
    const reading = await watched.read()
    const index =
      'CREATE INDEX `taskdeck_status_enabled_task_type_created_at` ON `thesis_run_task` (`status`, `enabled`, `task_type`, `created_at`)'
    expect(heldBack(reading)).toContainEqual({ probe: 'depthByType', reason: 'plan', index })
    expect(heldBack(reading)).toContainEqual({ probe: 'oldest', reason: 'plan', index })
    const queued = reading.depth.filter(({ state }) => state === 'QUEUED')
    expect(queued.every(({ accuracy }) => accuracy === 'atLeast')).toBe(true)
    expect(queued.reduce((sum, { count }) => sum + count, 0)).toBe(10_001)
    expect(queued).toContainEqual({ type: 'other', state: 'QUEUED', count: 0, accuracy: 'atLeast' })
  })

  it('that an ALTER holds is given up with the reason, and nothing of ours stays on the server', async () => {
    await owner.query(
      "INSERT INTO thesis_run_task (task_type, status, created_at) VALUES ('a', 'PENDING', UTC_TIMESTAMP())"
    )
    const watched = await watch(shippedProfile('thesis-run-task'))
    await watched.read()
    const altering = await mysql.createConnection(made.url)
    ends.add(() => altering.end())
    await owner.query('START TRANSACTION')
    await owner.query('SELECT id FROM thesis_run_task LIMIT 1')
    const altered = altering.query('ALTER TABLE thesis_run_task ADD COLUMN extra INT NULL')
    await expect
      .poll(() =>
        rowsOf(
          "SELECT ID FROM information_schema.PROCESSLIST WHERE STATE LIKE 'Waiting for table metadata%' AND INFO LIKE 'ALTER%extra%'"
        )
      )
      .toHaveLength(1)
    await expect(watched.read()).rejects.toMatchObject({ code: 'LOCK_TIMEOUT' })
    await nothingRuns()
    await owner.query('COMMIT')
    await altered
    expect((await watched.read()).depth).toEqual([{ type: 'a', state: 'QUEUED', count: 1 }])
  })

  it.each([
    ['a table', { table: 'thesis_runs' }, /no table thesis_runs that this account may read/],
    ['a column', { id: 'task_id' }, /"task_id" is not in the table/],
    [
      'an encoding',
      {
        times: {
          created_at: { kind: 'unixSeconds' },
          next_retry_at: { kind: 'unixSeconds' },
          finished_at: { kind: 'datetime', zone: 'UTC' }
        }
      },
      /"created_at" is datetime: unixSeconds in "times" is for numbers/
    ],
    [
      'a type of text',
      { type: { column: 'error_message' } },
      /"error_message" is text: choose a column that an index can hold/
    ]
  ])('refuses a profile that has %s wrong, and says what to change', async (_what, change, message) => {
    const profile = parseProfile(JSON.stringify({ ...shippedProfile('thesis-run-task'), ...change }), 'p.json')
    const watched = await watch(profile)
    await expect(watched.read()).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      message: expect.stringMatching(message) as string
    })
  })
})

describe('a state with an age among its conditions', () => {
  const jobs = (states: object[]): TableProfile =>
    parseProfile(
      JSON.stringify({
        ...{ format: 1, name: 'Jobs', table: 'jobs', id: 'id', type: { constant: 'job' }, states },
        times: { run_at: { kind: 'unixSeconds' }, locked_at: { kind: 'unixSeconds' } }
      }),
      'p'
    )
  const age = (key: 'olderThanSeconds' | 'youngerThanSeconds') => [
    { column: 'status', in: ['new'] },
    { column: 'locked_at', [key]: 300 }
  ]
  const locked = { name: 'locked', state: 'RUNNING', when: age('youngerThanSeconds') }
  const free = { name: 'free', state: 'QUEUED', when: age('olderThanSeconds'), since: 'run_at' }

  it('is not looked for in a long range of others, with the index that would hold it alone; made, it is counted', async () => {
    await table(
      'jobs',
      'CREATE TABLE jobs (id INT AUTO_INCREMENT PRIMARY KEY, status VARCHAR(20), run_at INT, locked_at INT, KEY by_status (status, run_at))'
    )
    await owner.query(
      `INSERT INTO jobs (status, run_at, locked_at) SELECT 'new', 1, UNIX_TIMESTAMP() - 9000 FROM ${numbered(80_000)}`
    )
    await owner.query(
      "INSERT INTO jobs (status, run_at, locked_at) VALUES ('new', 1, UNIX_TIMESTAMP()); ANALYZE TABLE jobs"
    )
    const watched = await watch(jobs([locked]))
    const reading = await watched.read()
    const index = 'CREATE INDEX `taskdeck_status_locked_at` ON `jobs` (`status`, `locked_at`)'
    expect(heldBack(reading)).toEqual([{ probe: 'depth', reason: 'plan', index }])
    expect(reading.costRows).toBeLessThan(3_000)
    expect(heldBack(await (await watch(jobs([free]))).read()).map(({ probe }) => probe)).toContain('oldest')

    await owner.query(index)
    const healed = await (await watch(jobs([locked]))).read()
    expect(healed.depth).toEqual([{ type: 'job', state: 'RUNNING', count: 1 }])
    expect(healed.costRows).toBeLessThan(3_000)
  })
})

describe('Laravel jobs', () => {
  it('are counted, and the longest available is known; what the table deletes is unknown', async () => {
    await table(
      'jobs',
      `CREATE TABLE jobs (id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY, queue VARCHAR(255) NOT NULL, payload LONGTEXT NOT NULL,
      attempts SMALLINT UNSIGNED NOT NULL, reserved_at INT UNSIGNED NULL, available_at INT UNSIGNED NOT NULL, created_at INT UNSIGNED NOT NULL, KEY jobs_queue_index (queue))`
    )
    const now = Math.floor(Date.now() / 1_000)
    const add = (queue: string, reserved: number | null, available: number): Promise<unknown> =>
      owner.query(
        'INSERT INTO jobs (queue, payload, attempts, reserved_at, available_at, created_at) VALUES (?, ?, 0, ?, ?, ?)',
        [queue, '{}', reserved, available, available]
      )
    await add('mail', null, now - 100)
    await add('mail', null, now + 1_000)
    await add('mail', now - 5, now - 500)
    await add('reports', null, now + 50)
    const watched = await watch(shippedProfile('laravel-jobs'))
    const reading = await watched.read()
    expect(byStateAndType(reading)).toEqual({ 'QUEUED mail': 2, 'QUEUED reports': 1, 'RUNNING mail': 1 })
    expect(reading.oldest).toEqual([{ type: 'mail', taskId: '1', ageMs: reading.at - (now - 100) * 1_000 }])
    expect(reading.limits.map(({ probe, reason }) => `${probe} ${reason}`).sort()).toEqual(
      ['durations', 'ended', 'finished', 'retries', 'schedules', 'submitted', 'workers'].map(
        (probe) => `${probe} schema`
      )
    )
    expect(reading.limits.every(({ why }) => (why ?? '') !== '')).toBe(true)
  })
})

describe('moments', () => {
  const moments = { format: 1, name: 'Moments', table: 'moments', id: 'id', type: { constant: 'job' } }
  const waiting = (state: TaskState = 'QUEUED') => [
    { name: 'new', state, when: [{ column: 'done', in: [0] }], since: 'at' },
    { name: 'good', state: 'SUCCESS', when: [{ column: 'done', in: [1] }], since: 'at' },
    { name: 'bad', state: 'FAILED', when: [{ column: 'done', in: [2] }], since: 'at' }
  ]

  it.each([
    ['DATETIME of UTC', 'DATETIME', { kind: 'datetime', zone: 'UTC' }, '?'],
    ['DATETIME(6) of China', 'DATETIME(6)', { kind: 'datetime', zone: '+08:00' }, '? + INTERVAL 8 HOUR'],
    ['DATETIME of Newfoundland', 'DATETIME', { kind: 'datetime', zone: '-03:30' }, '? - INTERVAL 210 MINUTE'],
    ['TIMESTAMP', 'TIMESTAMP NULL', { kind: 'datetime', zone: 'UTC' }, '?'],
    ['seconds', 'INT UNSIGNED', { kind: 'unixSeconds' }, 'UNIX_TIMESTAMP(?)'],
    ['milliseconds', 'BIGINT', { kind: 'epochMs' }, 'UNIX_TIMESTAMP(?) * 1000']
  ])('are understood: %s', async (_what, type, encoding, expression) => {
    await table('moments', `CREATE TABLE moments (id CHAR(36) PRIMARY KEY, done TINYINT NOT NULL, at ${type})`)
    const base = Math.floor(Date.now() / 1_000) * 1_000
    const add = (id: string, done: number, secondsAgo: number): Promise<unknown> =>
      owner.query(`INSERT INTO moments VALUES (?, ?, ${expression})`, [
        id,
        done,
        new Date(base - secondsAgo * 1_000).toISOString().slice(0, 19).replace('T', ' ')
      ])
    await add('late-one', 0, 90)
    await add('due-later', 0, -600)
    for (const [id, done, ago] of [
      ['a', 1, 20],
      ['b', 2, 30],
      ['c', 1, 200],
      ['d', 2, 4_000],
      ['e', 1, 1]
    ] as const)
      await add(id, done, ago)
    const watched = await watch(
      parseProfile(JSON.stringify({ ...moments, times: { at: encoding }, states: waiting() }), 'p')
    )
    const reading = await watched.read()
    expect(reading.depth).toEqual([{ type: 'job', state: 'QUEUED', count: 2 }])
    expect(reading.oldest).toEqual([{ type: 'job', taskId: 'late-one', ageMs: reading.at - (base - 90_000) }])
    // What ended a second ago may not all be committed.
    expect(reading.flow).toMatchObject([{ type: 'job', finished1m: 2, ended5m: 3, failed5m: 1 }])
  })

  it('that are missing make the age unknown, and not the other figures', async () => {
    await table('moments', 'CREATE TABLE moments (id INT PRIMARY KEY, done TINYINT NOT NULL, at DATETIME NULL)')
    await owner.query('INSERT INTO moments VALUES (1, 0, NULL), (2, 0, UTC_TIMESTAMP() - INTERVAL 1 HOUR)')
    const times = { at: { kind: 'datetime', zone: 'UTC' } }
    const watched = await watch(parseProfile(JSON.stringify({ ...moments, times, states: waiting('RETRY_WAIT') }), 'p'))
    const reading = await watched.read()
    expect(reading.depth).toEqual([{ type: 'job', state: 'RETRY_WAIT', count: 2 }])
    expect(reading.limits).toContainEqual({
      probe: 'oldest',
      reason: 'data',
      index: null,
      why: 'a task that is "new" has no time in at'
    })
  })

  it('tell leases that ran out from those that have not', async () => {
    await table(
      'moments',
      'CREATE TABLE moments (id INT PRIMARY KEY, kind VARCHAR(20) NOT NULL, locked_at BIGINT NULL)'
    )
    await owner.query(
      "INSERT INTO moments VALUES (1, 'a', NULL), (2, 'a', UNIX_TIMESTAMP() * 1000 - 5000), (3, 'b', UNIX_TIMESTAMP() * 1000 - 100000), (4, 'failed', NULL)"
    )
    const not = { column: 'kind', notIn: ['failed'] }
    const states = [
      { name: 'free', state: 'QUEUED', when: [{ column: 'locked_at', is: 'null' }, not] },
      { name: 'expired', state: 'RETRY_WAIT', when: [{ column: 'locked_at', olderThanSeconds: 90 }, not] },
      { name: 'locked', state: 'RUNNING', when: [{ column: 'locked_at', youngerThanSeconds: 90 }, not] },
      { name: 'failed', state: 'FAILED', when: [{ column: 'kind', in: ['failed'] }] }
    ]
    const profile = { ...moments, type: { column: 'kind' }, times: { locked_at: { kind: 'epochMs' } }, states }
    const watched = await watch(parseProfile(JSON.stringify(profile), 'p'))
    const reading = await watched.read()
    expect(byStateAndType(reading)).toEqual({ 'QUEUED a': 1, 'RETRY_WAIT b': 1, 'RUNNING a': 1 })
    expect(reading.limits).toContainEqual({
      probe: 'oldest',
      reason: 'schema',
      index: null,
      why: 'the profile does not say since when a task is "free"'
    })
  })
})
