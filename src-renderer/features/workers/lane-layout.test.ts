import { describe, expect, it } from 'vitest'
import { workerAliveMs, type EndedAttempt, type RunningAttempt } from '@contract'
import { clinicTypes, readingAt } from '@/testing/demo-queue.ts'
import { laneGroups } from './lane-layout.ts'
import { barAt, barPath, laneTicks, neighbour, pathsOf, pitchOf, spanOf } from './lane-paths.ts'
import type { LanesPicture } from './lanes-picture.ts'
import { workerViews, type WorkerView } from './worker-health.ts'

const at = Date.parse('2026-03-12T14:00:00Z')
const scene = { types: clinicTypes, failingSinceMs: null, workers: 3, silent: 0, gap: null, startedAt: at }
const reading = readingAt(scene, at)
const views = (silentMs: number | null = null): WorkerView[] =>
  workerViews({
    ...reading,
    workers: reading.workers.map((row) =>
      silentMs !== null && row.id === 'imp-02' ? { ...row, lastHeartbeatAt: at - silentMs } : row
    )
  })
const ended = (taskId: string, from: number, to: number, change: Partial<EndedAttempt> = {}): EndedAttempt => ({
  taskId,
  attempt: 1,
  type: 'mail.send',
  workerId: 'imp-01',
  startedAt: at - from,
  endedAt: at - to,
  outcome: 'SUCCESS',
  errorCode: null,
  ...change
})
const running = (taskId: string, sinceMs: number, workerId = 'imp-01'): RunningAttempt => ({
  taskId,
  attempt: 2,
  type: 'mail.send',
  workerId,
  startedAt: at - sinceMs,
  leaseUntil: at + 20_000,
  leaseMs: 30_000,
  state: 'RUNNING',
  stateSince: at - sinceMs
})
const picture = (change: Partial<LanesPicture>): LanesPicture => ({
  connectionId: 'c',
  windowMs: 600_000,
  at,
  knownSince: at - 600_000,
  ended: [],
  running: [],
  allRunning: true,
  held: null,
  ...change
})
const scale = { from: at - 600_000, to: at, width: 600, pitch: 10 }

describe('lanes', () => {
  it('are one for each attempt at a time, and one attempt after another shares a lane', () => {
    const attempts = [ended('1', 60_000, 30_000), ended('2', 50_000, 20_000), ended('3', 29_000, 10_000)]
    const [group] = laneGroups(picture({ ended: attempts }), views(), new Map())
    expect(group).toMatchObject({ workerId: 'imp-01', lanes: 2 })
    expect(Object.fromEntries(group!.bars.map((bar) => [bar.taskId, bar.lane]))).toEqual({ 1: 0, 2: 1, 3: 0 })
  })

  it('stay where they are when attempts end, leave the picture or come', () => {
    const places = new Map<string, number>()
    laneGroups(picture({ ended: [ended('1', 60_000, 30_000)], running: [running('2', 50_000)] }), views(), places)
    const later = picture({ ended: [ended('2', 50_000, 1_000, { attempt: 2 }), ended('3', 55_000, 40_000)] })
    const [group] = laneGroups(later, views(), places)
    expect(Object.fromEntries(group!.bars.map((bar) => [bar.taskId, bar.lane]))).toEqual({ 2: 1, 3: 0 })
    expect([...places.keys()].sort()).toEqual(['2/2', '3/1'])
  })

  it('have a group for each worker in the order of the table, then for those that nobody knows any more', () => {
    const gone = ended('1', 60_000, 30_000, { workerId: 'old-9' })
    const groups = laneGroups(picture({ ended: [gone] }), views(), new Map())
    expect(groups.map((group) => group.workerId)).toEqual(['imp-01', 'imp-02', 'imp-03', 'old-9'])
    expect(groups.at(-1)!.view).toBeNull()
  })

  it('end with the last sign of life of a worker that is lost: what it runs since is not known', () => {
    const silentMs = workerAliveMs + 60_000
    const groups = laneGroups(picture({ running: [running('1', 200_000, 'imp-02')] }), views(silentMs), new Map())
    const lost = groups.find((group) => group.workerId === 'imp-02')!
    expect(lost.silentSince).toBe(at - silentMs)
    expect(lost.bars[0]).toMatchObject({ kind: 'RUNNING', until: at - silentMs })
  })
})

describe('bars', () => {
  const [group] = laneGroups(
    picture({ ended: [ended('1', 700_000, 300_000), ended('2', 290_000, 289_999, { outcome: 'FAILED' })] }),
    views(),
    new Map()
  )

  it('are cut at the edge of the picture and never thinner than can be seen', () => {
    const [long, short] = group!.bars
    expect(spanOf(long!, scale)).toEqual([0, 298.5])
    expect(spanOf(short!, scale)?.map((px) => px.toFixed(1))).toEqual(['310.0', '311.5'])
    expect(spanOf({ from: at - 900_000, until: at - 700_000 }, scale)).toBeUndefined()
  })

  it('are one path a kind', () => {
    const paths = pathsOf(group!.bars, scale)
    expect([...paths.keys()]).toEqual(['SUCCESS', 'FAILED'])
  })

  it('end in a form of their own for each outcome, without colour', () => {
    const box = { x: 0, end: 40, y: 0, height: 8 }
    const kinds = [
      'SUCCESS',
      'PARTIAL_SUCCESS',
      'RETRY',
      'FAILED',
      'LEASE_EXPIRED',
      'CANCELLED',
      'HANDED_BACK'
    ] as const
    const forms = [...kinds, 'RUNNING' as const, 'CANCEL_REQUESTED' as const].map((kind) => barPath(kind, box))
    expect(new Set(forms).size).toBe(forms.length)
  })

  it('are found under the cursor, with a little room for the thin ones', () => {
    expect(barAt(group!.bars, { x: 100, y: 5 }, scale)?.taskId).toBe('1')
    expect(barAt(group!.bars, { x: 313, y: 5 }, scale)?.taskId).toBe('2')
    expect(barAt(group!.bars, { x: 330, y: 5 }, scale)).toBeUndefined()
    expect(barAt(group!.bars, { x: 100, y: 40 }, scale)).toBeUndefined()
  })

  it('are walked through by arrows: along a lane in time, and to the nearest of the next lane', () => {
    const [wide] = laneGroups(
      picture({ ended: [ended('1', 90_000, 60_000), ended('2', 50_000, 40_000), ended('3', 88_000, 10_000)] }),
      views(),
      new Map()
    )
    const bar = (id: string) => wide!.bars.find((one) => one.taskId === id)!
    expect(neighbour(wide!.bars, bar('1'), 'right')?.taskId).toBe('2')
    expect(neighbour(wide!.bars, bar('1'), 'left')).toBeUndefined()
    expect(neighbour(wide!.bars, bar('2'), 'down')?.taskId).toBe('3')
    expect(neighbour(wide!.bars, bar('3'), 'up')?.taskId).toBe('1')
  })
})

it('lanes get thinner the more a worker has, until it is opened', () => {
  expect(pitchOf(1, false)).toBe(10)
  expect(pitchOf(8, false)).toBe(5)
  expect(pitchOf(40, false)).toBe(3)
  expect(pitchOf(40, true)).toBe(12)
})

it('ticks are round moments, as many as there is room for', () => {
  const ticks = laneTicks(scale)
  expect(ticks).toHaveLength(6)
  expect(ticks.every((tick) => tick % 120_000 === 0)).toBe(true)
  expect(laneTicks({ ...scale, width: 120 })).toEqual([at - 600_000, at])
})
