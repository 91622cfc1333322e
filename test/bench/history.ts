import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { parseArgs } from 'node:util'
import { runInNewContext } from 'node:vm'
import { openHistory } from '../../src-main/history/index.ts'
import { metricNames, systemClock, type Clock, type Point } from '../../src-main/kernel/index.ts'
import { atMost, finish, median } from '../support/report.ts'

/*
 * The app's own memory of what it saw: how long 90 days of many types take to be drawn, how large the file is by then, and whether a day of
 * sampling, played as fast as it goes, makes the process grow.
 */

const { values } = parseArgs({
  options: {
    types: { type: 'string', default: '50' },
    days: { type: 'string', default: '90' },
    'sampled-hours': { type: 'string', default: '24' },
    rounds: { type: 'string', default: '9' },
    json: { type: 'boolean', default: false }
  }
})
const types = Number(values.types)
const dayMs = 86_400_000
/** Nothing expires while the clock jumps by ten minutes or more. */
const wideTickMs = 540_000
const tickMs = 2_000
/** What an Overview asks for. */
const maxPoints = 360

const folder = mkdtempSync(join(tmpdir(), 'taskdeck-history-'))
let now = systemClock.now() - Number(values.days) * dayMs
const clock: Clock = {
  now: () => now,
  monotonic: () => systemClock.monotonic(),
  random: () => systemClock.random(),
  sleep: (ms, signal) => systemClock.sleep(ms, signal)
}
const file = join(folder, 'history.sqlite')
const { history } = openHistory({ file, clock, migrationsDir: join(import.meta.dirname, '../../migrations/cache') })
try {
  const ticks = await sample(Number(values.days) * dayMs, wideTickMs)
  const draws = await drawTimes()
  const drawMs = median(draws.map(({ processorMs }) => processorMs))
  const growth = await sampledDay()
  finish(
    {
      bench: 'history',
      types,
      ticks,
      fileMb: statSync(file).size / 1_048_576,
      drawMs,
      drawWallMs: median(draws.map(({ wallMs }) => wallMs)),
      ...growth
    },
    [
      atMost(`${values.days} days of ${types} types are answered`, drawMs, 'ms of processor time', 200),
      atMost('heap after a day of ticks, to that after its first quarter', growth.heapRatio, 'ratio', 1.1)
    ],
    values.json
  )
} finally {
  await history.close()
  rmSync(folder, { recursive: true, force: true })
}

/** Readings every `stepMs` for so long, up to where the clock then stands. */
async function sample(lengthMs: number, stepMs: number): Promise<number> {
  const until = now + lengthMs
  let ticks = 0
  for (; now < until; now += stepMs) {
    await history.append({ connectionId: 'bench', at: now, points: pointsAt(ticks++), readingJson: '{}' })
  }
  return ticks
}

function pointsAt(tick: number): Point[] {
  const names = Array.from({ length: types }, (_, n) => `type-${n}`)
  return ['', ...names].flatMap((type, n) =>
    metricNames.map((metric, m) => ({ metric, type, value: 100 + n + 50 * Math.sin(tick / (50 + m)) }))
  )
}

/** Nothing waits in it, so the processor's time is its own; the wall's is also that of the machine's other work. */
async function drawTimes(): Promise<{ processorMs: number; wallMs: number }[]> {
  const times: { processorMs: number; wallMs: number }[] = []
  for (let round = 0; round < Number(values.rounds); round++) {
    const before = process.cpuUsage()
    const began = systemClock.monotonic()
    const answer = await history.query('bench', { from: now - Number(values.days) * dayMs, to: now, maxPoints })
    const { user, system } = process.cpuUsage(before)
    times.push({ processorMs: (user + system) / 1_000, wallMs: systemClock.monotonic() - began })
    if (answer.series.length === 0) throw new Error('The history is empty.')
  }
  return times
}

async function sampledDay(): Promise<{ heapMb: number[]; heapRatio: number; slopeKbAnHour: number }> {
  const hours = Number(values['sampled-hours'])
  const heapMb: number[] = []
  for (let quarter = 0; quarter < 4; quarter++) {
    await sample((hours / 4) * 3_600_000, tickMs)
    heapMb.push(heapInUseMb())
  }
  const [first = Number.NaN] = heapMb
  const last = heapMb.at(-1) ?? Number.NaN
  return { heapMb, heapRatio: last / first, slopeKbAnHour: ((last - first) * 1_024) / (hours * 0.75) }
}

/** After a full collection. */
function heapInUseMb(): number {
  setFlagsFromString('--expose-gc')
  const collect: unknown = runInNewContext('gc')
  if (typeof collect === 'function') (collect as () => void)()
  return process.memoryUsage().heapUsed / 1_048_576
}
