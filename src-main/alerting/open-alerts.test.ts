import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { alertLimits, type Delivery } from '../kernel/index.ts'
import { AlertBench, high, low, oldestRule, tickMs } from './alerts.fixture.ts'
import type { StoredNotifier } from './index.ts'

let dir: string
let bench: AlertBench
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'taskdeck-alerts-'))
  bench = new AlertBench(dir)
})
afterEach(async () => {
  await bench.end()
  rmSync(dir, { recursive: true, force: true })
})

const notifier = (id: string, more: Partial<StoredNotifier> = {}): StoredNotifier => ({
  ...{ id, name: `to ${id}`, kind: 'webhook', format: 'slack', template: '', enabled: true, host: 'hooks.example' },
  ...more
})
const delivery = (id: string, more: Partial<Delivery> = {}): Delivery => ({
  ...{ id, notifierId: 'n', connectionId: 'local', incidentId: null, what: 'fired', at: bench.clock.now() },
  ...{ status: 'sending', tries: 1, answer: '', ms: null },
  ...more
})

describe('after a restart', () => {
  it('rules, silences and notifiers are as they were', async () => {
    const { alerts } = bench
    const rule = bench.addRule()
    alerts.saveRule('local', 'default-growth', { ...bench.viewOf('default-growth').rule, above: 99 })
    alerts.removeRule('local', bench.addRule().id)
    alerts.silence({ connectionId: 'local', ruleId: rule.id, durationMs: 60_000, reason: 'deploy', by: 'ada' })
    alerts.records.saveNotifier(notifier('a'))
    alerts.records.saveNotifier(notifier('b'))
    alerts.records.saveNotifier(notifier('a', { name: 'new', enabled: false }))
    alerts.records.saveDelivery(delivery('1'))
    alerts.records.saveDelivery(delivery('2'))
    alerts.records.saveDelivery(delivery('1', { status: 'delivered', tries: 2, answer: '200', ms: 84.5 }))
    const state = alerts.state('local')
    await bench.reopen()
    expect(bench.notice).toBeUndefined()
    expect(bench.alerts.state('local')).toEqual(state)
    const { records } = bench.alerts
    expect(records.notifiers()).toEqual([notifier('a', { name: 'new', enabled: false }), notifier('b')])
    expect(records.deliveries()).toEqual([
      delivery('2'),
      delivery('1', { status: 'delivered', tries: 2, answer: '200', ms: 84.5 })
    ])
  })

  it('what fires fires on: it is not told again, and resolves', async () => {
    bench.addRule({ type: '', forMs: 0 })
    bench.read(high)
    bench.alerts.acknowledge('local', bench.openIncident().id, { by: 'ada', note: 'on it' })
    const incident = bench.openIncident()
    await bench.reopen()
    expect(bench.openIncident()).toEqual(incident)
    bench.read(high, 5 * tickMs)
    expect(bench.told()).toEqual(['fired oldestMs'])
    bench.read(low, 4 * tickMs)
    expect(bench.told()).toEqual(['fired oldestMs', 'resolved oldestMs'])
    expect(bench.messages[1]?.incident).toMatchObject({ id: incident.id, acknowledged: { by: 'ada', note: 'on it' } })
  })

  it('a crash is no difference', () => {
    bench.addRule({ forMs: 0 })
    bench.read(high)
    const crashed = bench.alerts
    bench.open()
    bench.read(high, 5 * tickMs)
    expect(bench.told()).toEqual(['fired oldestMs'])
    bench.read(low, 4 * tickMs)
    expect(bench.told()).toEqual(['fired oldestMs', 'resolved oldestMs'])
    return crashed.stop()
  })

  it('what is pending goes on with the time that it was watched', async () => {
    const { id } = bench.addRule()
    bench.read(high, 4 * tickMs)
    const { since } = bench.viewOf(id)
    await bench.reopen()
    bench.clock.pass(60_000)
    bench.read(high, 2 * tickMs)
    expect(bench.viewOf(id)).toMatchObject({ state: 'pending', since })
    bench.read(high)
    expect(bench.told()).toEqual(['fired oldestMs'])
    expect(bench.messages[0]?.firings[0]).toMatchObject({ since })
    await bench.reopen()
    bench.read(low, 4 * tickMs)
    expect(bench.told()).toEqual(['fired oldestMs', 'resolved oldestMs'])
  })

  it('what fired for a rule that is off meanwhile is over', async () => {
    const rules = [bench.addRule({ forMs: 0 }), bench.addRule({ forMs: 0 })]
    bench.read(high)
    await bench.alerts.stop()
    const db = new Database(bench.file)
    db.prepare('UPDATE rule SET enabled = 0 WHERE id = ?').run(rules[0]?.id)
    db.prepare('DELETE FROM rule WHERE id = ?').run(rules[1]?.id)
    db.close()
    bench.open()
    expect(bench.alerts.state('local').open).toEqual([])
    expect(bench.messages.at(-1)).toMatchObject({
      what: 'resolved',
      firings: [{ endedBy: 'rule' }, { endedBy: 'rule' }]
    })
  })

  it('what follows soon joins the incident that was resolved before', async () => {
    bench.addRule({ forMs: 0, clearForMs: 0 })
    bench.read(high)
    const { id } = bench.openIncident()
    bench.read(low)
    await bench.reopen()
    bench.read(high)
    expect(bench.openIncident()).toMatchObject({ id, firings: [{}, {}] })
  })

  it('the worst value of before is known', async () => {
    bench.addRule({ forMs: 0, repeatMs: null })
    bench.read({ oldestMs: 900 })
    bench.read(high, 30_000)
    await bench.reopen()
    expect(bench.openIncident().firings).toMatchObject([{ peak: 900, value: 200 }])
  })
})

describe('after the end', () => {
  it('nothing happens any more, and ending again does no harm', async () => {
    bench.addRule({ forMs: 0 })
    await bench.alerts.stop()
    bench.changes.length = 0
    bench.alerts.start()
    bench.alerts.watch('local')
    bench.read(high)
    bench.alerts.unwatch('local')
    await bench.clock.advance(120_000)
    await bench.alerts.stop()
    expect([bench.messages, bench.changes, bench.notices]).toEqual([[], [], []])
  })
})

describe('the file', () => {
  it('is its user’s alone', () => {
    bench.addRule()
    for (const name of readdirSync(dir)) expect(statSync(join(dir, name)).mode & 0o077).toBe(0)
  })

  it('keeps nothing of a connection that is no more', async () => {
    bench.addRule({ forMs: 0 })
    bench.alerts.saveRule('shop', null, oldestRule)
    bench.read(high)
    bench.alerts.silence({ connectionId: 'local', ruleId: null, durationMs: 60_000, reason: 'gone', by: 'ada' })
    bench.alerts.records.saveDelivery(delivery('1'))
    bench.alerts.forget('local')
    const check = (): void => {
      const { rules, open, silences } = bench.alerts.state('local')
      expect([rules.length, open, silences]).toEqual([11, [], []])
      expect(bench.alerts.incidents('local', { from: 0, to: Infinity })).toEqual([])
      expect(bench.alerts.records.deliveries()).toEqual([])
      expect(bench.alerts.state('shop').rules).toHaveLength(12)
    }
    check()
    await bench.reopen()
    check()
  })

  it('keeps 90 days and 10,000 incidents, and all that are open', async () => {
    const day = 86_400_000
    const now = bench.clock.now()
    await bench.alerts.stop()
    const db = new Database(bench.file)
    const add = db.prepare('INSERT INTO incident (id, connection, opened_at, resolved_at, told) VALUES (?, ?, ?, ?, 0)')
    db.transaction(() => {
      add.run('open', 'local', now - 200 * day, null)
      add.run('old', 'local', now - 91 * day, now - 91 * day + 1)
      for (let n = 0; n < 10_010; n++) add.run(`i${n}`, 'local', now - 80 * day + n, now - 80 * day + n)
      add.run('last', 'local', now - 1, now)
    })()
    bench.open().start()
    await bench.clock.advance(0)
    const kept = db.prepare('SELECT id FROM incident ORDER BY opened_at').pluck().all() as string[]
    db.close()
    expect([kept.length, kept[0], kept[1], kept.at(-1)]).toEqual([10_001, 'open', 'i11', 'last'])
    expect(bench.alerts.incidents('local', { from: 0, to: now })).toHaveLength(500)
  })

  it('keeps 100,000 firings, of whole incidents', async () => {
    await bench.alerts.stop()
    const db = new Database(bench.file)
    const incident = db.prepare(
      'INSERT INTO incident (id, connection, opened_at, resolved_at, told) VALUES (?, ?, ?, ?, 0)'
    )
    const firing = db.prepare(
      `INSERT INTO firing (id, incident, connection, rule, signal, type, above, since, fired_at, peak, value, silenced)
        VALUES (?, ?, 'local', 'r', 'growth', '', 1, 1, 1, 1, 1, 0)`
    )
    db.transaction(() => {
      for (let n = 0; n < 1_001; n++) {
        incident.run(`i${n}`, 'local', n, bench.clock.now())
        for (let of = 0; of < 100; of++) firing.run(`f${n}-${of}`, `i${n}`)
      }
    })()
    bench.open().start()
    await bench.clock.advance(0)
    const counts = ['incident', 'firing'].map((table) => db.prepare(`SELECT count(*) FROM ${table}`).pluck().get())
    db.close()
    expect(counts).toEqual([1_000, 100_000])
  })

  it('deletes nothing because the clock is years ahead', async () => {
    bench.addRule({ forMs: 0, clearForMs: 0 })
    bench.read(high)
    bench.read(low)
    await bench.alerts.stop()
    bench.clock.jump(10 * 365 * 86_400_000)
    bench.open().start()
    await bench.clock.advance(10_000)
    expect(bench.alerts.incidents('local', { from: 0, to: Infinity })).toHaveLength(1)
  })

  it('lists 200 deliveries and keeps 1,000', async () => {
    await bench.alerts.stop()
    bench.open()
    const { records } = bench.alerts
    for (let n = 0; n < 1_100; n++) records.saveDelivery(delivery(String(n)))
    bench.alerts.start()
    await bench.clock.advance(0)
    expect(records.deliveries().map(({ id }) => id)).toEqual(Array.from({ length: 200 }, (_, n) => String(1_099 - n)))
    const db = new Database(bench.file)
    expect(db.prepare('SELECT count(*) FROM delivery').pluck().get()).toBe(1_000)
    db.close()
  })

  it('keeps of an open incident who was sent that it fires', async () => {
    bench.withoutDefaults().addRule({ forMs: 0, clearForMs: 0 })
    bench.read(high)
    const { records } = bench.alerts
    const about = { notifierId: 'pager', incidentId: bench.openIncident().id }
    records.saveDelivery({ ...delivery('first'), ...about, what: 'fired' })
    const isKnown = async (): Promise<boolean> => {
      for (let n = 0; n < 1_100; n++) records.saveDelivery(delivery(String(n)))
      bench.alerts.start()
      await bench.clock.advance(3_600_000)
      return records.wasSent('pager', about.incidentId)
    }
    expect(await isKnown()).toBe(true)
    expect(records.wasSent('other', about.incidentId)).toBe(false)
    bench.read(low)
    expect(await isKnown()).toBe(false)
  })

  it('takes no more notifiers than may be, and misses none that is not there', () => {
    const { records } = bench.alerts
    for (let n = 0; n < alertLimits.notifiers; n++) records.saveNotifier(notifier(String(n)))
    const refused = (code: string): Error => expect.objectContaining({ code, kind: 'user' }) as Error
    expect(() => records.saveNotifier(notifier('more'))).toThrow(refused('LIMIT_REACHED'))
    records.saveNotifier(notifier('0', { name: 'renamed' }))
    records.removeNotifier('1')
    expect(() => records.removeNotifier('1')).toThrow(refused('NOT_FOUND'))
    expect(records.notifiers()).toHaveLength(alertLimits.notifiers - 1)
  })
})

describe('a file that cannot be used', () => {
  const damages: [string, (file: string) => void][] = [
    ['cut off', (file) => truncateSync(file, 5_000)],
    ['cut off to nothing', (file) => truncateSync(file, 0)],
    ['that is a text', (file) => writeFileSync(file, 'no database '.repeat(500))],
    ['with garbage pages', (file) => writeFileSync(file, readFileSync(file).fill(0xa5, 4_096))]
  ]

  it.each(damages)('%s is kept aside, the default rules watch, and it is said', async (_name, damage) => {
    bench.addRule()
    await bench.alerts.stop()
    damage(bench.file)
    const before = readFileSync(bench.file)
    bench.open()
    expect(bench.notice).toMatchObject({ code: 'ALERTS_DAMAGED', kind: 'operational' })
    expect(readFileSync(String(bench.notice?.details['aside']))).toEqual(before)
    expect(bench.alerts.state('local').rules).toHaveLength(11)
    bench.addRule()
    await bench.reopen()
    expect(bench.alerts.state('local').rules).toHaveLength(12)
  })

  const others: [string, (file: string) => void][] = [
    ['of a newer version', (file) => inFile(file, 'PRAGMA user_version = 99')],
    ['of another program', (file) => inFile(file, 'PRAGMA application_id = 7')],
    ['that is a folder', (file) => (rmSync(file), mkdirSync(file))]
  ]
  it.each(others)('%s is left as it is, and rules watch in memory', async (_name, change) => {
    bench.addRule()
    await bench.alerts.stop()
    change(bench.file)
    const before = statSync(bench.file).isFile() ? readFileSync(bench.file) : null
    bench.open()
    expect(bench.notice).toMatchObject({ code: 'ALERTS_UNAVAILABLE' })
    bench.addRule({ forMs: 0 })
    bench.read(high)
    expect(bench.told()).toEqual(['fired oldestMs'])
    expect(statSync(bench.file).isFile() ? readFileSync(bench.file) : null).toEqual(before)
    expect(readdirSync(dir).filter((name) => name.includes('damaged'))).toEqual([])
  })

  it('when full says so once, refuses changes, and lets the rules watch on', () => {
    bench.addRule({ forMs: 0, clearForMs: 0, repeatMs: null })
    const { store } = bench.alerts as unknown as { store: { db: Database.Database } }
    // A full disk, as SQLite reports it: a setting of the handle, which only the store itself holds.
    store.db.pragma(`max_page_count = ${Number(store.db.pragma('page_count', { simple: true }))}`)
    const full = expect.objectContaining({ code: 'DISK_FULL', kind: 'operational' }) as Error
    const fill = (): void => {
      for (let n = 0; n < 100; n++)
        bench.alerts.records.saveNotifier(notifier('a', { template: 'x'.repeat(n * 1_000) }))
    }
    expect(fill).toThrow(full)
    for (let n = 0; n < 50; n++) {
      bench.read(high)
      bench.read(low)
      bench.alerts.state('local')
    }
    expect(bench.told()).toHaveLength(100)
    expect(bench.notices).toEqual([full])
    expect(bench.alerts.state('local').rules).toHaveLength(12)
  })

  function inFile(file: string, sql: string): void {
    const db = new Database(file)
    db.exec(sql)
    db.close()
  }
})
