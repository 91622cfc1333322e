import { describe, expect, it } from 'vitest'
import { systemClock, type Probe, type ProbeGuard, type ProbeLimit, type SqlRow } from '../../kernel/index.ts'
import { columnsProbe, indexesProbe } from '../../schema-profiles/index.ts'
import { createForeignReader } from './foreign-reading.ts'
import { jobsProfile as profile } from './jobs-profile.fixture.ts'

const columns = Object.entries({ id: 'bigint', kind: 'varchar', at: 'datetime', state: 'varchar' }).map(
  ([name, kind]) => ({ name, kind })
)

const ended = (name: string, state: 'SUCCESS' | 'FAILED') => ({
  ...{ name, state, since: 'at' },
  when: [{ column: 'state', in: [name] }]
})

/** A table without tasks, whose depth is refused while it has no index. */
class Table implements ProbeGuard {
  minutes = 0
  columns: SqlRow[] = columns
  indexes: SqlRow[] = []
  readonly texts: string[] = []

  begin(): ReturnType<ProbeGuard['begin']> {
    const limits = new Map<string, ProbeLimit>()
    return Promise.resolve({
      now: `2026-01-31 12:0${this.minutes}:00.000000`,
      rows: (probe) => {
        this.texts.push(probe.sql)
        if (probe === columnsProbe) return Promise.resolve(this.columns)
        if (probe === indexesProbe) return Promise.resolve(this.indexes)
        if (probe.sql.includes('FORCE INDEX')) return Promise.resolve([])
        limits.set(probe.name, { probe: probe.name, reason: 'plan', index: probe.index })
        return Promise.resolve(undefined)
      },
      expectedRows: () => Promise.resolve(undefined),
      cut: (limit) => void (limits.has(limit.probe) || limits.set(limit.probe, limit)),
      end: () => Promise.resolve({ costMs: 1, costRows: 1, server: null, limits: [...limits.values()] })
    })
  }

  get looks(): number {
    return this.texts.filter((text) => text === indexesProbe.sql).length
  }
}

describe('a reader of a table that is not ours', () => {
  it('looks the indexes up again a minute after some were missing, and uses what was made', async () => {
    const table = new Table()
    const read = createForeignReader(profile, { guard: table, clock: systemClock })
    const reasons = async (): Promise<string[]> =>
      (await read()).limits.filter(({ reason }) => reason === 'plan').map(({ probe }) => probe)
    expect(await reasons()).toEqual(['depth', 'oldest'])
    table.indexes = ['state', 'kind', 'at'].map((indexed) => ({ name: 'mine', indexed, part: null }))
    expect(await reasons()).toEqual(['depth', 'oldest'])
    expect(table.looks).toBe(1)
    table.minutes = 1
    expect(await reasons()).toEqual([])
    table.minutes = 9
    expect(await reasons()).toEqual([])
    expect(table.looks).toBe(2)
  })

  it('keeps the indexes that it knows while a second look at them is held back', async () => {
    const table = new Table()
    table.indexes = ['state', 'kind', 'at'].map((indexed) => ({ name: 'mine', indexed, part: null }))
    const flows = {
      ...profile,
      created: 'at',
      states: [...profile.states, ended('good', 'SUCCESS'), ended('bad', 'FAILED')]
    }
    let isHeld = false
    const guard: ProbeGuard = {
      begin: async () => {
        const round = await table.begin()
        const isLook = (probe: Probe): boolean => probe === indexesProbe || probe === columnsProbe
        return { ...round, rows: (probe) => (isHeld && isLook(probe) ? Promise.resolve(undefined) : round.rows(probe)) }
      }
    }
    const read = createForeignReader(flows, { guard, clock: systemClock })
    const refused = async (): Promise<string[]> =>
      (await read()).limits.filter(({ reason }) => reason === 'plan').map(({ probe }) => probe)
    const before = await refused()
    expect(before).not.toContain('oldest')
    expect(before.length).toBeGreaterThan(0)
    table.minutes = 1
    isHeld = true
    expect(await refused()).toEqual(before)
  })

  it('judges the table when it was told of it, not before', async () => {
    const table = new Table()
    let isHeld = true
    const guard: ProbeGuard = {
      begin: async () => {
        const round = await table.begin()
        return { ...round, rows: (probe) => (isHeld ? Promise.resolve(undefined) : round.rows(probe)) }
      }
    }
    const read = createForeignReader(profile, { guard, clock: systemClock })
    await read()
    isHeld = false
    table.columns = [{ name: 'id', kind: 'bigint' }]
    await expect(read()).rejects.toMatchObject({ code: 'INVALID_INPUT' })
  })
})
