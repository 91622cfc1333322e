import { describe, expect, it } from 'vitest'
import { workerAliveMs, type RunningAttempt } from '@contract'
import { clinicTypes, readingAt } from '@/testing/demo-queue.ts'
import { leasesAtRisk, stuckTasks } from './attempt-risk.ts'
import type { LanesPicture } from './lanes-picture.ts'
import { workerViews } from './worker-health.ts'

const at = Date.parse('2026-03-12T14:00:00Z')
const scene = { types: clinicTypes, failingSinceMs: null, workers: 2, silent: 0, gap: null, startedAt: at }
const reading = readingAt(scene, at)
const p99Ms = reading.flow.find((flow) => flow.type === 'mail.send')!.duration!.p99
const running = (change: Partial<RunningAttempt>): RunningAttempt => ({
  taskId: '7',
  attempt: 1,
  type: 'mail.send',
  workerId: 'imp-01',
  startedAt: at - 2_000,
  leaseUntil: at + 28_000,
  leaseMs: 30_000,
  state: 'RUNNING',
  stateSince: at - 2_000,
  ...change
})
const picture = (...attempts: RunningAttempt[]): LanesPicture => ({
  connectionId: 'c',
  windowMs: 600_000,
  at,
  knownSince: at - 600_000,
  ended: [],
  running: attempts,
  allRunning: true,
  held: null
})
const workers = workerViews(reading)
const evidence = (attempt: RunningAttempt, views = workers) => stuckTasks(picture(attempt), views, reading)[0]?.evidence

describe('leases about to expire', () => {
  it('are those that a renewal is missing of, the first to expire first', () => {
    const found = leasesAtRisk(
      picture(
        running({ taskId: '1', leaseUntil: at + 15_000 }),
        running({ taskId: '2', leaseUntil: at + 14_999 }),
        running({ taskId: '3', leaseUntil: at - 1_000 })
      )
    )
    expect(found.map(({ attempt, leftMs }) => [attempt.taskId, leftMs])).toEqual([
      ['3', -1_000],
      ['2', 14_999]
    ])
  })

  it('are told by a fixed time when their length is not known', () => {
    expect(leasesAtRisk(picture(running({ leaseMs: null, leaseUntil: at + 5_000 })))).toEqual([])
    expect(leasesAtRisk(picture(running({ leaseMs: null, leaseUntil: at + 4_999 })))).toHaveLength(1)
  })
})

describe('stuck tasks', () => {
  it('are none while attempts take what they always take', () => {
    expect(stuckTasks(picture(running({})), workers, reading)).toEqual([])
  })

  it('run longer than three times the p99 of their type, and not only for a moment', () => {
    expect(evidence(running({ startedAt: at - 9_999 }))).toBeUndefined()
    expect(evidence(running({ startedAt: at - 20 * p99Ms }))).toMatchObject([
      { kind: 'slow', times: expect.closeTo(20, 3) as number, p99Ms }
    ])
    expect(evidence(running({ type: 'nobody.knows', startedAt: at - 3_600_000 }))).toBeUndefined()
  })

  it('belong to a worker that is silent', () => {
    const silentMs = workerAliveMs + 5_000
    const views = workerViews({
      ...reading,
      workers: reading.workers.map((row) => ({ ...row, lastHeartbeatAt: at - silentMs }))
    })
    expect(evidence(running({}), views)).toEqual([{ kind: 'silent', silentMs }])
  })

  it('were asked to stop and go on', () => {
    const asked = (ms: number) => running({ state: 'CANCEL_REQUESTED', stateSince: at - ms })
    expect(evidence(asked(30_000))).toBeUndefined()
    expect(evidence(asked(30_001))).toEqual([{ kind: 'cancel', askedMs: 30_001 }])
  })

  it('lost their lease and were not taken over', () => {
    expect(evidence(running({ leaseUntil: at - 45_000 }))).toEqual([{ kind: 'expired', sinceMs: 45_000 }])
  })

  it('come with the most evidence first', () => {
    const slow = running({ taskId: '1', startedAt: at - 20 * p99Ms })
    const worse = running({ taskId: '2', startedAt: at - 20 * p99Ms, leaseUntil: at - 45_000 })
    expect(stuckTasks(picture(slow, worse), workers, reading).map(({ attempt }) => attempt.taskId)).toEqual(['2', '1'])
  })
})
