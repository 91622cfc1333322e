import { rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { newDataDir } from '../e2e/support/build.ts'
import { fillHistory } from '../support/demo-history.ts'
import { atMost, finish, median } from '../support/report.ts'
import { emptyWindow, overviewWindow, type MeasuredWindow, type Usage } from './app/measured-window.ts'

/*
 * What the desktop app costs its user, each beside an empty Electron window in the same run: from launch to a painted Overview out of
 * history, memory while ticks come in, processor time while nothing moves.
 */

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    minutes: { type: 'string', default: '60' },
    'idle-seconds': { type: 'string', default: '60' },
    json: { type: 'boolean', default: false }
  }
})
const rounds = Number(values.rounds)
const minutes = Number(values.minutes)
const idleMs = Number(values['idle-seconds']) * 1_000
/** The pages that a window opens with, and caches that fill once, are not growth. */
const settledShare = 1 / 3

const dataDir = newDataDir()
try {
  await fillHistory(dataDir, { connectionId: 'local', hours: 24 })
  const starts = await startTimes()
  const idle = { empty: await quietly(() => emptyWindow()), app: await quietly(() => overviewWindow(dataDir, false)) }
  const live = await liveMemory()
  const startRatio = median(starts.map(({ app, empty }) => app / empty))
  finish(
    {
      bench: 'app',
      startMs: { app: median(starts.map(({ app }) => app)), empty: median(starts.map(({ empty }) => empty)) },
      idle,
      live
    },
    [
      atMost('cold start to a painted Overview, to an empty window', startRatio, 'ratio', 3),
      atMost('memory while ticks come in, to an empty window', live.lastMb / idle.empty.memoryMb, 'ratio', 2.5),
      atMost('memory at the end, to that after the first third', live.lastMb / live.settledMb, 'ratio', 1.1),
      atMost('processor time while nothing moves', idle.app.cpuShare - idle.empty.cpuShare, 'cores', 0.05)
    ],
    values.json
  )
} finally {
  rmSync(dirname(dataDir), { recursive: true, force: true })
}

async function startTimes(): Promise<{ app: number; empty: number }[]> {
  const times: { app: number; empty: number }[] = []
  for (let round = 0; round < rounds; round++) {
    const empty = await timeOf(() => emptyWindow())
    times.push({ empty, app: await timeOf(() => overviewWindow(dataDir, false)) })
  }
  return times
}

async function timeOf(open: () => Promise<MeasuredWindow>): Promise<number> {
  const window = await open()
  await window.stop()
  return window.paintedMs
}

async function quietly(open: () => Promise<MeasuredWindow>): Promise<Usage> {
  const window = await open()
  await delay(5_000) // its start is over
  await window.usage() // the processor time counts from here
  await delay(idleMs)
  const usage = await window.usage()
  await window.stop()
  return usage
}

/** With the sample workload: each tick differs from the one before. */
async function liveMemory(): Promise<{ minutes: number; settledMb: number; lastMb: number; eachMinuteMb: number[] }> {
  const window = await overviewWindow(dataDir, true)
  const eachMinuteMb: number[] = []
  for (let minute = 0; minute < minutes; minute++) {
    await delay(60_000)
    eachMinuteMb.push(Math.round((await window.usage()).memoryMb))
  }
  await window.stop()
  const settled = Math.floor(eachMinuteMb.length * settledShare)
  // Medians of three: a collection may be due at any moment.
  const around = (index: number): number => median(eachMinuteMb.slice(Math.max(0, index - 2), index + 1))
  return { minutes, settledMb: around(settled), lastMb: around(eachMinuteMb.length - 1), eachMinuteMb }
}
