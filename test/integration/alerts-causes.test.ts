import { once } from 'node:events'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import mysql from 'mysql2/promise'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { AlertRule, AlertSignal, AlertState, Firing, MetricName, Tick } from '../../src-main/contract/index.ts'
import { StopStack, newTask, systemClock } from '../../src-main/kernel/index.ts'
import { createWorker } from '../../src-main/queue/pool/index.ts'
import { fakeTimeLibrary, withoutFakeTime } from '../faults/injections/index.ts'
import { TcpProxy } from '../faults/tcp-proxy.ts'
import { startPrivateMariaDb, type TestMariaDb } from '../support/mariadb.ts'
import { openTestQueue, type TestQueue } from '../support/open-queue.ts'
import { startApp, type AppUnderTest } from './app-under-test.ts'
import { startWorkerProcess, type WorkerProcess } from './pool-support/worker-process.ts'

/*
 * Each default rule fires and ends on a real server for a real reason. The app only looks: it is connected read-only, so that no cause is
 * cleared up by it. Thresholds and times are small through the contract, so that a tick or two is enough.
 */

const ends = new StopStack()
const scratch = mkdtempSync(join(tmpdir(), 'taskdeck-alerts-'))
const clockFile = join(scratch, 'clock')
const hasFakeTime = withoutFakeTime() === undefined
let clockAheadS = 0
let server: TestMariaDb
let queue: TestQueue
let watching: AppUnderTest
let connectionId: string
/** Between the worker and the server. */
let line: TcpProxy

beforeAll(async () => {
  writeFileSync(clockFile, '+0\n')
  server = await startPrivateMariaDb({ inMemory: true, serverOptions: ['--max-connections=40'], env: clockOfServer() })
  ends.add(() => server.stop())
  const url = await server.createDatabase('alerts')
  queue = await openTestQueue(url)
  ends.add(() => queue.close())
  line = await TcpProxy.to(server)
  ends.add(() => line.close())
  watching = await startApp()
  ends.add(() => watching.app.stop())
  const { host, port, user, password } = server
  const saved = await watching.client.connections.save({
    ...{ name: 'watched', environment: 'production', accessMode: 'read-only', password },
    mysql: { host, port, user, database: 'alerts' }
  })
  connectionId = saved.id
  expect(saved.link.status).toBe('live')
  for (const { rule } of (await state()).rules)
    await watching.client.alerts.saveRule({ connectionId, ruleId: rule.id, rule: { ...rule, enabled: false } })
})
afterAll(() => ends.stop())

function clockOfServer(): NodeJS.ProcessEnv {
  const library = fakeTimeLibrary()
  if (library === undefined) return {}
  return {
    ...{ LD_PRELOAD: library, FAKETIME_TIMESTAMP_FILE: clockFile },
    ...{ FAKETIME_CACHE_DURATION: '1', FAKETIME_DONT_FAKE_MONOTONIC: '1' }
  }
}

/** The server's clock goes so far ahead, within a second. */
function letPass(seconds: number): void {
  clockAheadS += seconds
  writeFileSync(clockFile, `+${clockAheadS}s\n`)
}

const state = (): Promise<AlertState> => watching.client.alerts.get({ connectionId })

interface Watched {
  readonly signal: AlertSignal
  /** '' is the whole queue: the default rule. */
  readonly type?: string
  readonly above: number
  readonly clearAt?: number
  readonly clearForMs?: number
}

/** A rule that is quick: it fires and ends with the first reading that says so. */
async function watch({ signal, type = '', above, clearAt = above, clearForMs = 0 }: Watched): Promise<AlertRule> {
  const rule = { signal, type, above, clearAt, forMs: 0, clearForMs, repeatMs: null, enabled: true }
  const ruleId = type === '' ? `default-${signal}` : null
  const { rules } = await watching.client.alerts.saveRule({ connectionId, ruleId, rule })
  const saved = rules.find((one) => one.rule.signal === signal && one.rule.type === type)
  if (!saved) throw new Error(`${signal} was not saved`)
  return saved.rule
}

/** Readings are up to 30 s apart on a busy machine, and some are spared a probe. */
const mostWaitMs = 180_000

async function until(rule: AlertRule, wanted: 'firing' | 'quiet'): Promise<AlertState> {
  const isSo = ({ connectionId: id, rules }: AlertState): boolean =>
    id === connectionId && rules.some((one) => one.rule.id === rule.id && one.state === wanted)
  const event = watching.event('alerts', ({ alerts }) => isSo(alerts))
  const late = AbortSignal.timeout(mostWaitMs)
  const found = await Promise.race([event, once(late, 'abort').then(() => undefined)])
  if (found) return found.alerts
  const now = (await state()).rules.find((one) => one.rule.id === rule.id)
  throw new Error(`${rule.signal} is not ${wanted} after ${mostWaitMs / 1_000} s: ${JSON.stringify(now)}`)
}

async function fires(rule: AlertRule): Promise<Firing> {
  const { open } = await until(rule, 'firing')
  const firing = open.flatMap(({ firings }) => firings).find((one) => one.ruleId === rule.id && one.resolvedAt === null)
  if (!firing) throw new Error(`${rule.signal} fires and is in no incident`)
  return firing
}

/** What happens to its figure later is no concern of the other tests. */
async function clears(rule: AlertRule): Promise<void> {
  await until(rule, 'quiet')
  await watching.client.alerts.saveRule({ connectionId, ruleId: rule.id, rule: { ...rule, enabled: false } })
}

/** What fired, and the series in which it is to be found. */
const fired: { readonly firing: Firing; readonly metric: MetricName }[] = []
const firesIn = async (rule: AlertRule, metric: MetricName): Promise<void> => {
  fired.push({ firing: await fires(rule), metric })
}

/**
 * Makes the cause again with each reading until the rule is where it should be: it may be over within a minute, and a busy server may be spared a
 * probe for as long.
 */
async function keepCausing<T>(cause: () => Promise<unknown>, wanted: Promise<T>): Promise<T> {
  let isThere = false
  const there = wanted.finally(() => (isThere = true))
  there.catch(() => undefined) // told below
  for (let seq = 0; !isThere;) {
    await cause()
    const next = tick((_reading, one) => one.seq > seq).then((one) => (seq = one.seq))
    await Promise.race([there, next])
  }
  return there
}

/** How many steps lie between the moment that the incident names and the first step of stored history that is above its threshold. */
async function stepsOff(): Promise<Record<string, number>> {
  const range = { rangeMs: 1_800_000, maxPoints: 1_000 }
  const { times, stepMs, series } = await watching.client.overview.snapshot({ connectionId, ...range })
  const entries = fired.map(({ firing: { since, above, type }, metric }) => {
    const values = series.find((one) => one.metric === metric && one.type === type)?.values ?? []
    const found = times.find((_time, index) => (values[index] ?? 0) > above) ?? Number.NaN
    return [`${metric} ${type}`, Math.abs(Math.floor((since - found) / stepMs))] as const
  })
  return Object.fromEntries(entries)
}

async function submit(type: string, payload: object, count = 1, maxAttempts?: number): Promise<string[]> {
  const task = newTask.parse({ type, payload: JSON.stringify(payload), ...(maxAttempts ? { maxAttempts } : {}) })
  return (await queue.store.submit(Array.from({ length: count }, () => task))).map(({ taskId }) => taskId)
}

/** A worker in this process, behind the line, that looks often and says often how it is. */
async function startWorker(): Promise<void> {
  const behindLine = await openTestQueue(urlThrough(line.port))
  ends.add(() => behindLine.close())
  const started = createWorker({
    ...{ store: behindLine.store, clock: systemClock, workerId: 'inside', version: '0.0.0-test', slots: 2 },
    ...{ leaseMs: 3_000, pollMs: 20, recoverMs: 300, graceMs: 2_000, cancelGraceMs: 200 },
    handlers: { builtIn: true, dir: null },
    artifactDir: join(scratch, 'artifacts')
  })
  ends.add(() => started.stop())
  await started.start()
}

/** One that can be killed. */
async function startProcess(id: string): Promise<WorkerProcess> {
  const pace = ['--poll-ms', '20', '--recover-ms', '300', '--concurrency', '6']
  const worker = startWorkerProcess(urlThrough(server.port), '--id', id, ...pace)
  await worker.untilSays(/started with 6 slots/)
  return worker
}

const urlThrough = (port: number): string => `mysql://${server.user}:${server.password}@127.0.0.1:${port}/alerts`

async function untilRunning(ids: readonly string[], count: number): Promise<void> {
  const running = async (): Promise<number> => {
    const tasks = await Promise.all(ids.map((id) => queue.store.get(id)))
    return tasks.filter((task) => task?.state === 'RUNNING').length
  }
  await expect.poll(running, { timeout: 20_000 }).toBeGreaterThanOrEqual(count)
}

/** Open until they are destroyed. */
async function openSessions(count: number): Promise<mysql.Connection[]> {
  const opened = await Promise.all(Array.from({ length: count }, () => mysql.createConnection(urlThrough(server.port))))
  for (const session of opened) session.on('error', () => undefined)
  ends.add(() => opened.forEach((session) => session.destroy()))
  return opened
}

/** The newest of the watched queue that fits. */
async function tick(fits: (reading: Tick['reading'], one: Tick) => boolean = () => true): Promise<Tick> {
  const found = await watching.event(
    'tick',
    (one) => one.tick.connectionId === connectionId && fits(one.tick.reading, one.tick)
  )
  return found.tick
}

// Thresholds are below half of what is caused: a step of history is a mean over two readings or three. A busy machine makes readings dear, and
// dear readings are taken seldom.
const unhurried = { timeout: 420_000 }

describe('a real cause', unhurried, () => {
  it('nobody is there: the oldest waits, the queue grows, a schedule is late, until a worker comes over a slow line', async () => {
    const oldest = await watch({ signal: 'oldestMs', type: 'cpu', above: 1_000, clearAt: 100 })
    const growth = await watch({ signal: 'growth', type: 'cpu', above: 5, clearAt: 0 })
    const late = await watch({ signal: 'schedulesLate', above: 0 })
    const bothFire = Promise.all([firesIn(oldest, 'oldestMs'), firesIn(growth, 'in1m')])
    await keepCausing(() => submit('cpu', { ms: 1 }, 20), bothFire)
    if (hasFakeTime) {
      const task = { type: 'cpu', payload: '{"ms":1}' }
      await queue.store.putSchedule({ name: 'each minute', cron: '* * * * *', task })
      letPass(130)
      await firesIn(late, 'schedulesLate')
    }
    const claims = await watch({ signal: 'claimP95', above: 100, clearAt: 80 })
    line.latencyMs = 60
    await startWorker()
    await firesIn(claims, 'claimP95')
    line.latencyMs = 0
    await Promise.all([clears(oldest), clears(growth), clears(late), clears(claims)])
  })
})

describe.concurrent('a real cause while a worker is there', unhurried, () => {
  it('a handler fails until most attempts succeed, then tasks hang: all slots are taken and nothing ends', async () => {
    const failures = await watch({ signal: 'failureRate', type: 'flaky', above: 0.2, clearAt: 0.18 })
    const failing = { probability: 1, errorClass: 'final' }
    await keepCausing(() => submit('flaky', failing, 10), firesIn(failures, 'failureRate'))
    await keepCausing(() => submit('flaky', { probability: 0 }, 100), clears(failures))
    const pool = await watch({ signal: 'poolUse', above: 0.4 })
    const progress = await watch({ signal: 'progressStopped', type: 'sleep', above: 0 })
    const ids = await submit('sleep', { ms: 3_600_000 }, 2)
    await Promise.all([fires(pool), firesIn(progress, 'depth.RUNNING')])
    for (const id of ids) await queue.store.act(id, 'cancel', 'ada')
    await Promise.all([clears(pool), clears(progress)])
  })

  it('a figure plays around its threshold: that fires once', async () => {
    // No worker takes tasks of a type that it has no handler for.
    const flapping = await watch({ signal: 'oldestMs', type: 'held', above: 300, clearAt: 100, clearForMs: 600_000 })
    const ageIn = (reading: Tick['reading']): number => reading.oldest.find(({ type }) => type === 'held')?.ageMs ?? 0
    for (let n = 0; n < 3; n++) {
      const [id = ''] = await submit('held', {})
      await tick((reading) => ageIn(reading) > 300)
      await queue.store.act(id, 'cancel', 'ada')
      await tick((reading) => ageIn(reading) < 100)
    }
    const now = systemClock.now() + clockAheadS * 1_000
    const range = { connectionId, from: now - 600_000, to: now + 60_000 }
    const incidents = await watching.client.alerts.incidents(range)
    const firings = incidents.flatMap((incident) => incident.firings).filter(({ ruleId }) => ruleId === flapping.id)
    expect(firings).toMatchObject([{ resolvedAt: null }])
    await watching.client.alerts.removeRule({ connectionId, ruleId: flapping.id })
  })
})

describe('a real cause that everything hangs on', unhurried, () => {
  it('sessions are left open: the server is nearly full, until they end', async () => {
    const database = await watch({ signal: 'databaseUse', above: 0.4, clearAt: 0.35 })
    const { server: load } = (await tick(({ server: seen }) => seen !== null)).reading
    const idle = await openSessions(Math.ceil(0.75 * (load?.mostSessions ?? 0)) - (load?.sessions ?? 0))
    await firesIn(database, 'databaseUse')
    // As long as it takes to be most of a step of history.
    await expect
      .poll(async () => (await stepsOff())['databaseUse '], { timeout: 90_000, interval: 500 })
      .toBeLessThanOrEqual(2)
    fired.pop() // later it is a small part of a wide step
    for (const session of idle) session.destroy()
    await clears(database)
  })

  it.skipIf(!hasFakeTime)(
    'a worker is killed: it is silent and its tasks are recovered, until it is back',
    async () => {
      const silent = await watch({ signal: 'workersSilent', above: 0 })
      const recovered = await watch({ signal: 'recoveredRise', above: 2, clearAt: 0 })
      const killed = await startProcess('outside')
      const ids = await submit('sleep', { ms: 3_600_000 }, 8, 1)
      await untilRunning(ids, 6) // at most two of them inside
      killed.child.kill('SIGKILL')
      await killed.ended
      // What a rise is compared with is five minutes old: a reading of this rule, before the time passes.
      const { seq } = await tick()
      await tick(({ limits }, one) => one.seq > seq && !limits.some(({ probe }) => probe === 'ended'))
      letPass(310)
      await fires(silent)
      await startProcess('outside')
      await firesIn(recovered, 'recovered5m')
      await clears(silent)
      for (const id of ids) await queue.store.act(id, 'cancel', 'ada')
      letPass(310)
      await clears(recovered)
    }
  )

  it('each is found in stored history at its moment', async () => {
    await tick()
    expect(fired.length).toBeGreaterThanOrEqual(hasFakeTime ? 7 : 5)
    // A signal of two figures begins when both are known: a busy server is spared one of them for a reading or two.
    for (const [series, steps] of Object.entries(await stepsOff())) expect(steps, series).toBeLessThanOrEqual(4)
  })

  it('the server is killed: nothing is read, until it is started again', async () => {
    const blind = await watch({ signal: 'blindMs', above: 4_000, clearAt: 3_000 })
    await tick()
    await server.kill9()
    const last = await tick()
    const { since } = await fires(blind)
    await server.restart()
    await clears(blind)
    const first = await tick()
    expect(first.seq).toBeGreaterThan(last.seq)
    expect(since).toBeGreaterThan(last.reading.at)
    expect(since).toBeLessThan(first.reading.at)
  })
})
