import { execFileSync, spawnSync } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { systemClock } from '../kernel/index.ts'
import type { AppError, Clock, Point } from '../kernel/index.ts'
import { openHistory } from './index.ts'
import type { History, HistoryOptions } from './index.ts'

const migrationsDir = resolve(import.meta.dirname, '../../migrations/cache')
const start = Date.UTC(2026, 0, 5, 12)
const minute = 60_000
const hour = 60 * minute

let dir: string
let file: string
let now: number
let opened: History[]
let told: AppError[]
const clock: Clock = { ...systemClock, now: () => now }

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'taskdeck-history-'))
  file = join(dir, 'history.sqlite')
  now = start
  opened = []
  told = []
})
afterEach(async () => {
  for (const history of opened) await history.close()
  chmodSync(dir, 0o700)
  rmSync(dir, { recursive: true, force: true })
})

function open(more: Partial<HistoryOptions> = {}): ReturnType<typeof openHistory> {
  const result = openHistory({ file, clock, migrationsDir, onNotice: (notice) => told.push(notice), ...more })
  opened.push(result.history)
  return result
}

const depth = (value: number, type = ''): Point => ({ metric: 'depth', type, value })
const rate = (value: number): Point => ({ metric: 'failureRate', type: '', value })

async function tick(history: History, at: number, ...points: Point[]): Promise<void> {
  now = at
  await history.append({ connectionId: 'local', at, points, readingJson: JSON.stringify({ at }) })
}

async function line(history: History, range: { from: number; to: number; maxPoints?: number }, metric = 'depth') {
  const window = await history.query('local', { maxPoints: 360, ...range, metrics: [metric], types: [''] })
  return { ...window, values: window.series[0]?.values ?? [] }
}
const known = (values: readonly (number | null)[]): number[] => values.filter((value) => value !== null)

/** A file with some minutes of history, closed. */
async function makeFile(): Promise<void> {
  const { history } = open()
  for (let n = 0; n < 120; n++) await tick(history, start + n * 2000, depth(n), depth(n, 'mail'), rate(0.25))
  await history.close()
}

describe('history', () => {
  it('gives back what was appended, the whole queue before the types', async () => {
    const { history, notice } = open()
    for (let n = 0; n < 30; n++) await tick(history, start + n * 2000, depth(1, 'a'), depth(n), rate(n % 2))
    const window = await history.query('local', { from: start, to: now, maxPoints: 12 })
    expect(notice).toBeUndefined()
    expect(window.series.map(({ metric, type }) => [metric, type])).toEqual([
      ['depth', ''],
      ['failureRate', ''],
      ['depth', 'a']
    ])
    expect(window.times).toHaveLength(window.series[0]?.values.length ?? 0)
    expect(window.series[0]?.values[0]).toBe(2) // 0, 2 and 4 s fall into the first 5 s; the last counts
    expect(window.series[1]?.values[0]).toBeCloseTo(1 / 3)
  })

  it('keeps gaps as unknown, and makes none out of the jitter of the sampler', async () => {
    const { history } = open()
    for (let n = 0; n < 60; n++) await tick(history, start + n * 2003, depth(1))
    const resumed = start + 10 * minute
    for (let n = 0; n < 60; n++) await tick(history, resumed + n * 2003, depth(3))
    const { values, stepMs } = await line(history, { from: start, to: now })
    const text = values.map((value) => (value === null ? '-' : String(value))).join('')
    expect(text).toMatch(/^1+-+3+$/)
    expect((text.match(/-/g)?.length ?? 0) * stepMs).toBeGreaterThan(7 * minute)
  })

  it('takes readings of a slow pace, and of one that changes, for no gap', async () => {
    const { history } = open()
    for (let at = start; at < start + 5 * minute; at += 30_000) await tick(history, at, depth(1))
    for (let at = start + 5 * minute; at <= start + 10 * minute; at += 2_000) await tick(history, at, depth(1))
    const { values, stepMs, times } = await line(history, { from: start + 10_000, to: start + 10 * minute + 40_000 })
    expect(stepMs).toBe(2_000)
    expect(values).not.toContain(null)
    expect(times).toHaveLength(9 + 151)
    const old = await line(history, { from: start, to: start + 12 * minute })
    expect(old.values.at(-1)).toBeNull()
  })

  it('has the last reading after it is opened again', async () => {
    await makeFile()
    const { history } = open()
    expect(await history.lastReading('local')).toEqual({
      at: start + 238_000,
      readingJson: JSON.stringify({ at: start + 238_000 })
    })
    expect(await history.lastReading('other')).toBeUndefined()
    expect(known((await line(history, { from: start, to: now })).values)).toContain(119)
  })

  it('rolls up into minutes, quarters of an hour and wider, and lets detail expire', async () => {
    const { history } = open()
    for (let at = start; at < start + 10 * hour; at += 20_000) {
      await tick(history, at, depth((at - start) / 20_000), rate(at % minute === 0 ? 0.9 : 0))
    }
    const day = await line(history, { from: start, to: now, maxPoints: 620 })
    expect(day.stepMs).toBe(minute)
    expect(day.values.slice(0, 3)).toEqual([2, 5, 8])
    expect(day.values.filter((value) => value === null)).toHaveLength(0)
    const rates = await line(history, { from: start, to: now, maxPoints: 50 }, 'failureRate')
    expect(rates.stepMs).toBe(15 * minute)
    for (const value of rates.values) expect(value).toBeCloseTo(0.3)
    await history.close()
    const db = new Database(file)
    const rows = db.prepare('SELECT step_ms, count(*) AS n, min(at) AS first FROM sample GROUP BY step_ms').all()
    db.close()
    expect(rows).toEqual([
      { step_ms: 0, n: 6 * 180 + 1, first: now - 6 * hour },
      { step_ms: minute, n: 599, first: start },
      { step_ms: 15 * minute, n: 39, first: start },
      { step_ms: 2 * hour, n: 4, first: start },
      { step_ms: 6 * hour, n: 1, first: start }
    ])
  })

  it('answers a range further back than detail is kept with wider buckets, not with holes', async () => {
    const { history } = open()
    for (let at = start; at < start + 20 * minute; at += 10_000) await tick(history, at, depth(4))
    for (let n = 0; n < 30; n++) await tick(history, start + 12 * hour + n * 10_000, depth(5))
    const { stepMs, values } = await line(history, { from: start, to: start + 19 * minute, maxPoints: 1000 })
    expect(stepMs).toBe(minute)
    expect(values).toEqual(Array.from({ length: 20 }, () => 4))
  })

  it('survives a clock that jumps back and forth', async () => {
    const { history } = open()
    for (let n = 0; n < 90; n++) await tick(history, start + n * 2000, depth(1))
    for (const jump of [start - 24 * hour, 1_000, start + 365 * 24 * hour, start + minute]) {
      for (let n = 0; n < 3; n++) await tick(history, jump + n * 2000, depth(2))
    }
    for (let n = 90; n < 900; n++) await tick(history, start + n * 2000, depth(1))
    const { values } = await line(history, { from: start, to: now })
    expect(values).not.toContain(null)
    expect(told).toEqual([])
  })

  it('loses nothing when only the clock of the database runs ahead', async () => {
    const { history } = open()
    for (let n = 0; n < 90; n++) await tick(history, start + n * 2000, depth(1))
    await history.append({ connectionId: 'local', at: start + 400 * 24 * hour, points: [depth(2)], readingJson: '{}' })
    const { values } = await line(history, { from: start, to: start + 178_000 })
    expect(known(values)).toHaveLength(values.length)
  })

  it('refuses a time that is none, as a bug', async () => {
    const { history } = open()
    await expect(tick(history, NaN, depth(1))).rejects.toMatchObject({ kind: 'bug' })
  })

  it('forgets a removed connection at once and its rows soon', async () => {
    const { history } = open()
    for (let n = 0; n < 300; n++) await tick(history, start + n * 2000, depth(1))
    await history.remove('local')
    expect((await history.query('local', { from: start, to: now, maxPoints: 12 })).series).toEqual([])
    expect(await history.lastReading('local')).toBeUndefined()
    for (let n = 300; n < 310; n++) await tick(history, start + n * 2000, depth(7))
    expect(known((await line(history, { from: start, to: now })).values)).not.toContain(1)
    await history.close()
    const db = new Database(file)
    expect(db.prepare('SELECT count(*) FROM sample WHERE step_ms = 0').pluck().get()).toBe(10)
    expect(db.prepare('SELECT count(*) FROM removed').pluck().get()).toBe(0)
    db.close()
  })

  it('lets everything else have its turn between two questions', async () => {
    const { history } = open()
    await tick(history, start, depth(1))
    const order: string[] = []
    const asked = [1, 2, 3].map((n) => line(history, { from: start, to: now }).then(() => order.push(`answer ${n}`)))
    setImmediate(() => order.push('else'))
    await Promise.all(asked)
    expect(order.indexOf('else')).toBeLessThan(2)
    expect(order.filter((one) => one !== 'else')).toEqual(['answer 1', 'answer 2', 'answer 3'])
  })

  it('bounds the number of series', async () => {
    const { history } = open()
    const many = Array.from({ length: 3000 }, (_, n) => depth(n, `type-${n}`))
    await tick(history, start, depth(1), ...many)
    await tick(history, start + 2000, depth(2), ...many)
    const window = await history.query('local', { from: start, to: now, maxPoints: 10 })
    expect(window.series).toHaveLength(1000)
    expect(window.series[0]).toMatchObject({ metric: 'depth', type: '' })
  })

  it('sheds its oldest rows rather than outgrow its limit', async () => {
    const maxBytes = 1024 * 1024
    const { history } = open({ maxBytes })
    const points = Array.from({ length: 300 }, (_, n) => depth(n + 0.5, `t${n}`))
    for (let n = 0; n < 1500; n++) await tick(history, start + n * 2000, depth(n), ...points)
    expect(told).toEqual([])
    expect(known((await line(history, { from: now - minute, to: now })).values).at(-1)).toBe(1499)
    await history.close()
    expect(statSync(file).size).toBeLessThanOrEqual(maxBytes)
  })
})

it('keeps its file, and what SQLite puts beside it, from other users, also a file of an older Taskdeck', async () => {
  await makeFile()
  chmodSync(file, 0o644)
  const { history } = open()
  await tick(history, now + 2000, depth(1))
  const modes = readdirSync(dir).map((name) => [name, statSync(join(dir, name)).mode & 0o777])
  expect(modes).toEqual([
    ['history.sqlite', 0o600],
    ['history.sqlite-wal', 0o600]
  ])
})

describe('a damaged history file', () => {
  const newer = (): void => {
    const db = new Database(file)
    db.pragma('user_version = 999')
    db.close()
  }
  const foreign = (): void => {
    rmSync(file)
    const db = new Database(file)
    db.exec('CREATE TABLE song (title TEXT)')
    db.close()
  }
  const tableGone = (): void => {
    const db = new Database(file)
    db.exec('DROP TABLE sample')
    db.close()
  }
  const overwrite = (from: number, bytes: Buffer): void => {
    const content = readFileSync(file)
    bytes.copy(content, from)
    writeFileSync(file, content)
  }
  const faults: [string, () => void][] = [
    ['with a zeroed header', () => overwrite(0, Buffer.alloc(100))],
    ['with a garbage page', () => overwrite(4096 * 4, Buffer.alloc(4096, 0xa5))],
    ['cut off in the middle', () => truncateSync(file, 4096 * 3 + 100)],
    ['cut off in its header', () => truncateSync(file, 50)],
    ['cut off to nothing', () => truncateSync(file, 0)],
    ['that is a text', () => writeFileSync(file, 'hello, this is no database '.repeat(500))],
    ['of another program', foreign],
    ['of a newer version', newer],
    ['without one of its tables', tableGone]
  ]

  it.each(faults)('%s is set aside with a notice, and history begins anew', async (_name, damage) => {
    await makeFile()
    damage()
    const before = readFileSync(file)
    const { history, notice } = open()
    expect(notice).toMatchObject({ code: 'HISTORY_DAMAGED', kind: 'operational' })
    const aside = readdirSync(dir).filter((name) => /^history\.sqlite\.damaged-\d+T\d+Z$/.test(name))
    expect(aside).toHaveLength(1)
    // behind the header, whose counters change when the file is opened
    expect(readFileSync(join(dir, aside[0] ?? '')).subarray(100)).toEqual(before.subarray(100))
    expect(await history.lastReading('local')).toBeUndefined()
    await tick(history, now + 2000, depth(8))
    await history.close()
    const again = open()
    expect(again.notice).toBeUndefined()
    expect(await again.history.lastReading('local')).toMatchObject({ at: now })
  })

  it('is set aside again and again without filling the disk', async () => {
    for (let n = 0; n < 6; n++) {
      now = start + n
      writeFileSync(file, 'no database')
      expect(open().notice).toMatchObject({ code: 'HISTORY_DAMAGED' })
      await opened.pop()?.close()
    }
    const aside = readdirSync(dir).filter((name) => name.includes('.damaged-'))
    expect(aside).toHaveLength(3)
  })

  it('that breaks while the app runs ends in memory with one notice', async () => {
    const first = open()
    const many = Array.from({ length: 400 }, (_, n) => depth(n + 0.5, `t${n}`))
    for (let n = 0; n < 900; n++) await tick(first.history, start + n * 2000, ...many) // more than the page cache holds
    await first.history.close()
    const { history, notice } = open()
    expect(notice).toBeUndefined()
    overwrite(4096, Buffer.alloc(statSync(file).size - 4096, 0xa5))
    for (let n = 0; n < 5; n++) await tick(history, start + hour + n * 2000, depth(n))
    await history.query('local', { from: start, to: now, maxPoints: 12 })
    expect(told.map(({ code }) => code)).toEqual(['HISTORY_DAMAGED'])
    expect(known((await line(history, { from: start + hour, to: now })).values).at(-1)).toBe(4)
  })
})

describe('a history file that cannot be written', () => {
  it('when full goes on in memory with one notice, no write loop, and the old picture still there', async () => {
    await makeFile()
    const { history, notice } = open({ maxBytes: statSync(file).size })
    expect(notice).toBeUndefined()
    for (let n = 0; n < 100; n++) {
      const more = Array.from({ length: 200 }, (_, m) => depth(m + 0.5, `t${m}`))
      await tick(history, start + 300_000 + n * 2000, depth(1000 + n), ...more)
    }
    expect(told.map(({ code }) => code)).toEqual(['DISK_FULL'])
    const values = known((await line(history, { from: start, to: now })).values)
    expect(values).toContain(119)
    expect(values.at(-1)).toBe(1099)
    expect(await history.lastReading('local')).toMatchObject({ at: now })
    const size = statSync(file).size + (existsSync(`${file}-wal`) ? statSync(`${file}-wal`).size : 0)
    await tick(history, now + 2000, depth(1))
    expect(statSync(file).size + (existsSync(`${file}-wal`) ? statSync(`${file}-wal`).size : 0)).toBe(size)
  })

  it('in use by a second instance is left alone', async () => {
    await makeFile()
    open()
    const second = open()
    expect(second.notice).toMatchObject({ code: 'HISTORY_UNAVAILABLE' })
    await tick(second.history, start, depth(5))
    expect(known((await line(second.history, { from: start, to: start })).values)).toEqual([5])
    expect(readdirSync(dir).filter((name) => name.includes('damaged'))).toEqual([])
  })

  it('in a folder that is not there, or is no folder, goes on in memory', async () => {
    expect(open({ file: join(dir, 'none', 'history.sqlite') }).notice).toMatchObject({ code: 'HISTORY_UNAVAILABLE' })
    const { history, notice } = open({ file: dir })
    expect(notice).toMatchObject({ code: 'HISTORY_UNAVAILABLE' })
    await tick(history, start, depth(5))
    expect(known((await line(history, { from: start, to: start })).values)).toEqual([5])
  })

  it('that is a pipe, or larger than it can ever be, is neither read nor touched, and it is said', async () => {
    execFileSync('mkfifo', [file])
    expect(open().notice).toMatchObject({
      code: 'HISTORY_UNAVAILABLE',
      message: expect.stringMatching(/history\.sqlite is not a regular file/) as string
    })
    rmSync(file)
    await makeFile()
    truncateSync(file, 2 ** 31)
    expect(open().notice).toMatchObject({
      code: 'HISTORY_UNAVAILABLE',
      message: expect.stringMatching(/more than 1024 MiB/) as string
    })
    truncateSync(file, 4096)
    execFileSync('mkfifo', [`${file}-wal`])
    expect(open().notice).toMatchObject({ message: expect.stringMatching(/history\.sqlite-wal is not a/) as string })
    expect(readdirSync(dir).sort()).toEqual(['history.sqlite', 'history.sqlite-wal'])
  })

  it('to a user without the right to write goes on in memory', async () => {
    await makeFile()
    const script = join(dir, 'open.mjs')
    copyFileSync(resolve(import.meta.dirname, 'read-only.fixture.mjs'), script)
    for (const path of [file, script]) chmodSync(path, 0o444)
    chmodSync(dir, 0o555)
    const asNobody = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}
    const module = resolve(import.meta.dirname, 'index.ts')
    const child = spawnSync(process.execPath, [script, module, file, migrationsDir], { ...asNobody, encoding: 'utf8' })
    expect(child.stderr.replace(/.*ExperimentalWarning.*\n.*\n/, '')).toBe('')
    expect(JSON.parse(child.stdout)).toEqual({ code: 'HISTORY_UNAVAILABLE', value: 5, told: 0 })
  })
})
