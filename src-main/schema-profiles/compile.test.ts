import { describe, expect, it } from 'vitest'
import { compileProfile, type SliceProbes } from './compile.ts'
import { parseProfile } from './profile.ts'
import { indexOn } from './statement-parts.ts'
import { indexesOf, type TableIndex } from './table-indexes.ts'
import { decodeTime, encodeTime } from './time-encoding.ts'
import { unknownFigures } from './unknown-figures.ts'

const now = Date.UTC(2026, 0, 31, 12, 0, 0, 250)

const profile = (changes: object = {}) =>
  parseProfile(
    JSON.stringify({
      format: 1,
      name: 'Jobs',
      table: 'other.jobs',
      id: 'id',
      type: { column: 'kind' },
      times: {
        run_at: { kind: 'datetime', zone: '+08:00' },
        locked_at: { kind: 'unixSeconds' },
        ended_at: { kind: 'epochMs' }
      },
      created: 'run_at',
      states: [
        {
          name: 'waiting',
          state: 'QUEUED',
          when: [
            { column: 'state', in: ["w'; DROP TABLE x", 'v'] },
            { column: 'locked_at', is: 'null' }
          ],
          since: 'run_at'
        },
        { name: 'locked', state: 'RUNNING', when: [{ column: 'locked_at', youngerThanSeconds: 90 }] },
        {
          name: 'good',
          state: 'SUCCESS',
          when: [
            { column: 'state', in: ['good'] },
            { column: 'locked_at', olderThanSeconds: 90 }
          ],
          since: 'ended_at'
        },
        {
          name: 'bad',
          state: 'FAILED',
          when: [
            { column: 'state', in: ['bad', 'worse'] },
            { column: 'locked_at', olderThanSeconds: 90 }
          ],
          since: 'ended_at'
        }
      ],
      ...changes
    }),
    'jobs.json'
  )

const slicesOf = (
  changes: object = {},
  indexes: readonly TableIndex[] = []
): [SliceProbes, SliceProbes, SliceProbes] => {
  const [a, b, c, ...more] = compileProfile(profile(changes), indexes).slices
  if (!a || !b || !c || more.length > 0) throw new Error('not three')
  return [a, b, c]
}

describe('compiled probes', () => {
  it('are one for each combination of values, which are bound and never part of the text', () => {
    const [first, second] = slicesOf()
    expect(first.depth(now)).toEqual({
      probe: {
        name: 'depth',
        sql: '/* waiting_0 */ SELECT type, COUNT(*) AS n FROM (SELECT `kind` AS type FROM `other`.`jobs` WHERE `state` = ? AND `locked_at` IS NULL LIMIT 10001) AS `waiting_0` GROUP BY type',
        tables: ['other.jobs'],
        readsPastLimit: false,
        index:
          'CREATE INDEX `taskdeck_state_locked_at_kind_run_at` ON `other`.`jobs` (`state`, `locked_at`, `kind`, `run_at`)'
      },
      values: ["w'; DROP TABLE x"]
    })
    expect(second.depth(now).values).toEqual(['v'])
    expect(second.depth(now).probe.sql).not.toBe(first.depth(now).probe.sql)
  })

  it('find types one after the other, NULL before all', () => {
    const { types } = slicesOf()[0]
    expect(types?.next(undefined, 'oldest').probe).toMatchObject({
      name: 'oldest',
      sql: expect.stringMatching(/IS NULL ORDER BY `kind` LIMIT 1$/) as string
    })
    expect(types?.next({ type: null }, 'depthByType').probe.sql).toContain('AND `kind` IS NOT NULL ORDER BY')
    const behind = types?.next({ type: 'a' }, 'depthByType')
    expect(behind?.probe).toMatchObject({
      readsIndexOnly: true,
      sql: expect.stringContaining('AND `kind` > ? ORDER BY') as string
    })
    expect(behind?.values).toEqual(["w'; DROP TABLE x", 'a'])
    const counts = types?.counts([null, 'a'], 7)
    expect(counts?.probe.sql.match(/UNION ALL/g)).toHaveLength(1)
    expect(counts?.values).toEqual(["w'; DROP TABLE x", 7, "w'; DROP TABLE x", 'a', 7])
    expect(types?.sizes).toBeUndefined()
  })

  it('ask for sizes where rows have places: by an index that tells since when, and the primary key', () => {
    const mine = { name: 'mine', columns: ['state', 'locked_at', 'kind', 'run_at'] }
    expect(slicesOf({}, [mine])[0].types?.sizes).toBeUndefined()
    expect(slicesOf({}, [{ name: 'PRIMARY', columns: ['id'] }])[0].types?.sizes).toBeUndefined()
    const sizes = slicesOf({}, [mine, { name: 'PRIMARY', columns: ['ID'] }])[0].types?.sizes
    const ends = sizes?.ends([{ type: 'a', count: 7 }])
    expect(ends?.probe.sql).toContain(
      '(SELECT 0 AS position, `run_at` AS since, `id` AS id FROM `other`.`jobs` FORCE INDEX (`mine`) WHERE `state` = ? AND `locked_at` IS NULL AND `kind` = ? ORDER BY `run_at`, `id` LIMIT 1 OFFSET ?)'
    )
    const [state, since] = ["w'; DROP TABLE x", '2026-01-31 12:00:00']
    expect(ends?.values).toEqual([state, 'a', 6])
    const plan = sizes?.plan([{ type: 'a', since, id: 3 }])
    const ranges = plan?.probe.sql.split('UNION ALL').map((branch) => /`kind` = \?(.*)$/m.exec(branch)?.[1])
    expect(ranges).toEqual(['', ' AND `run_at` < ?', ' AND `run_at` = ? AND `id` <= ?'])
    expect(plan?.values).toEqual([state, 'a', state, 'a', since, state, 'a', since, 3])
  })

  it('look for the oldest of each type with one dive', () => {
    const heads = slicesOf()[0].oldest?.heads(['a', 'b'], now)
    expect(
      heads?.probe.sql.match(
        /\(SELECT \d AS position, `id` AS id, `run_at` AS since [^()]* ORDER BY `run_at` LIMIT 1\)/g
      )
    ).toHaveLength(2)
    expect(heads?.values).toEqual(["w'; DROP TABLE x", 'a', "w'; DROP TABLE x", 'b'])
  })

  it.each([
    ['in the order of the profile', ['state', 'locked_at', 'kind', 'run_at'], true],
    [
      'with the exact columns the other way round, and more behind',
      ['LOCKED_AT', 'state', 'kind', 'run_at', 'id'],
      true
    ],
    ['without the type', ['state', 'locked_at', 'run_at'], false],
    ['that begins with another column', ['id', 'state', 'locked_at', 'kind', 'run_at'], false]
  ])('name the index that serves them when the table has it: %s', (_how, columns, isNamed) => {
    const [slice] = slicesOf({}, [
      { name: 'by`date', columns: ['run_at'] },
      { name: 'mine', columns }
    ])
    const texts = [
      slice.depth(now),
      slice.types?.next(undefined, 'oldest'),
      slice.types?.counts(['a'], 1),
      slice.oldest?.heads(['a'], now)
    ]
    for (const one of texts)
      expect(one?.probe.sql.includes('FROM `other`.`jobs` FORCE INDEX (`mine`) WHERE')).toBe(isNamed)
    const { submitted } = compileProfile(profile(), [{ name: 'by`date', columns: ['run_at'] }])
    expect(submitted?.of('submitted', { fromMs: 0, uptoMs: now }).probe.sql).toContain('FORCE INDEX (`by``date`)')
  })

  it('advise indexes of different names, however alike the columns begin', () => {
    const long = 'a_column_with_a_rather_long_name_of_its_own_of_sixty_letters'
    const names = [
      [long, 'x'],
      [long, 'y']
    ].map((columns) => /`(taskdeck_[^`]*)`/.exec(indexOn('t', columns))?.[1])
    expect(new Set(names).size).toBe(2)
    for (const name of names) expect(name?.length).toBe(64)
  })

  it('take an index as far as it is made of whole columns', () => {
    const row = (name: string, indexed: string | null, part: number | null = null) => ({ name, indexed, part })
    expect(indexesOf([row('a', 'x'), row('a', 'y', 10), row('a', 'z'), row('b', null), row('b', 'x')])).toEqual([
      { name: 'a', columns: ['x'] },
      { name: 'b', columns: [] }
    ])
  })

  it('bind moments as the column holds them, and count what no index puts in order of types in one go', () => {
    const locked = slicesOf()[2]
    expect(locked).toMatchObject({ state: 'RUNNING', mostAtOnce: 50_000, types: undefined, oldest: undefined })
    expect(locked.depth(now).probe.sql).toContain('WHERE `locked_at` > ? LIMIT 50001')
    expect(locked.depth(now).values).toEqual([Math.floor(now / 1_000) - 90])
    expect(locked.depth(now).probe.index).toContain('(`locked_at`, `kind`)')
    // What does not fit lies between what fits, unless one range of an index holds all that fits.
    expect(locked.depth(now).probe.readsPastLimit).toBe(true)
    const served = slicesOf({}, [{ name: 'mine', columns: ['locked_at', 'kind'] }])[2].depth(now).probe
    expect(served).toMatchObject({
      readsPastLimit: false,
      sql: expect.stringContaining('FORCE INDEX (`mine`) WHERE `locked_at` > ?') as string
    })
  })

  it('read what ended in a stretch of time, newest first, with its state', () => {
    const { ended, submitted } = compileProfile(profile(), [])
    expect(ended).toHaveLength(1)
    const [flow] = ended
    const { probe, values } = flow?.of('ended', { fromMs: now - 60_000, uptoMs: now }) ?? {}
    expect(flow?.outcomes).toEqual(['SUCCESS', 'FAILED'])
    expect(probe?.sql).toContain('WHERE `ended_at` > ? AND `ended_at` <= ? ORDER BY `ended_at` DESC LIMIT 10000')
    expect(probe?.index).toContain('(`ended_at`, `state`, `locked_at`, `kind`)')
    const locked = Math.floor(now / 1_000) - 90
    expect(values).toEqual(['good', locked, 'bad', locked, 'worse', locked, now - 60_000, now])
    expect(submitted?.of('submitted', { fromMs: now - 60_000, uptoMs: now }).values).toEqual([
      '2026-01-31 19:59:00.250',
      '2026-01-31 20:00:00.250'
    ])
  })

  it('are not there for what the table does not say, which has its reason', () => {
    expect(unknownFigures(profile()).map(({ probe }) => probe)).toEqual([
      'retries',
      'durations',
      'workers',
      'schedules'
    ])
    const bare = profile({
      created: undefined,
      states: [{ name: 'all', state: 'QUEUED', when: [{ column: 'state', in: ['x'] }] }]
    })
    expect(compileProfile(bare, [])).toMatchObject({ submitted: undefined, ended: [] })
    expect(
      unknownFigures(bare)
        .map(({ probe, why }) => `${probe}: ${why ?? ''}`)
        .slice(4)
    ).toEqual([
      'oldest: the profile does not say since when a task is "all"',
      'submitted: the profile names no column "created"',
      'finished: the profile has not both a SUCCESS and a FAILED state with "since"',
      'ended: the profile has not both a SUCCESS and a FAILED state with "since"'
    ])
    const deletes = profile({
      states: [{ name: 'all', state: 'QUEUED', when: [{ column: 'state', in: ['x'] }], since: 'run_at' }]
    })
    expect(unknownFigures(deletes).find(({ probe }) => probe === 'submitted')?.why).toContain('not kept')
  })
})

describe('moments', () => {
  it.each([
    [{ kind: 'datetime', zone: 'UTC' } as const, '2026-01-31 12:00:00.250', '2026-01-31 12:00:00.250000'],
    [{ kind: 'datetime', zone: '-03:30' } as const, '2026-01-31 08:30:00.250', '2026-01-31 08:30:00.250'],
    [{ kind: 'epochMs' } as const, now, String(now)]
  ])('are written and read as %j', (encoding, written, held) => {
    expect(encodeTime(encoding, now)).toBe(written)
    expect(decodeTime(encoding, held)).toBe(now)
  })

  it('of whole seconds are rounded down', () => {
    expect(encodeTime({ kind: 'unixSeconds' }, now)).toBe(Math.floor(now / 1_000))
    expect(decodeTime({ kind: 'unixSeconds' }, 1_000)).toBe(1_000_000)
  })

  it.each([null, undefined, '0000-00-00 00:00:00', '2026-00-00 00:00:00', 'soon'])(
    'that are none are none: %s',
    (value) => {
      expect(decodeTime({ kind: 'datetime', zone: 'UTC' }, value)).toBeNull()
    }
  )
})
