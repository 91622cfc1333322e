import { describe, expect, it } from 'vitest'
import { workerAliveMs, type QueueReading, type WorkerRow } from '@contract'
import { clinicTypes, readingAt } from '@/testing/demo-queue.ts'
import { conditionOf, factsOf, workerViews } from './worker-health.ts'

const at = Date.parse('2026-03-12T14:00:00Z')
const scene = { types: clinicTypes, failingSinceMs: null, workers: 3, silent: 0, gap: null, startedAt: at }
const base = readingAt(scene, at)
const row = (change: Partial<WorkerRow>): WorkerRow => ({
  ...base.workers[0]!,
  lastHeartbeatAt: at,
  slots: 4,
  running: 1,
  ...change
})
const reading = (workers: WorkerRow[], change: Partial<QueueReading> = {}): QueueReading => ({
  ...base,
  ...change,
  workers
})

describe('a worker', () => {
  it('is lost once its heartbeat is as old as the limit, and not a moment sooner', () => {
    expect(conditionOf(row({ lastHeartbeatAt: at - workerAliveMs + 1 }), at, 0)).toBe('well')
    expect(conditionOf(row({ lastHeartbeatAt: at - workerAliveMs }), at, 0)).toBe('lost')
  })

  it('that said goodbye is stopped, however old its heartbeat', () => {
    expect(conditionOf(row({ status: 'stopped', lastHeartbeatAt: 0 }), at, 0)).toBe('stopped')
  })

  it('is saturated only while tasks wait for a slot', () => {
    expect(conditionOf(row({ running: 4 }), at, 0)).toBe('well')
    expect(conditionOf(row({ running: 4 }), at, 9)).toBe('saturated')
    expect(conditionOf(row({ running: 3 }), at, 9)).toBe('well')
  })

  it('shows the worst that is known of it', () => {
    expect(conditionOf(row({ fault: 'twice', database: 'CONNECTION_LOST' }), at, 0)).toBe('faulty')
    expect(conditionOf(row({ database: 'CONNECTION_LOST', status: 'stopping' }), at, 0)).toBe('database')
    expect(conditionOf(row({ status: 'stopping' }), at, 0)).toBe('stopping')
    expect(conditionOf(row({ status: 'quiet', running: 4 }), at, 9)).toBe('quiet')
  })
})

describe('all workers', () => {
  const lost = row({ id: 'w-2', lastHeartbeatAt: at - 60_000, running: 3, claimP95Ms: 900 })
  const stopped = row({ id: 'w-1', status: 'stopped' })
  const alive = row({ id: 'w-10', running: 2, queued: 1, claimP95Ms: 7 })
  const views = workerViews(reading([lost, stopped, alive]))

  it('stand by name, numbers as numbers, lost ones first and those that stopped last', () => {
    const other = row({ id: 'w-9' })
    const all = workerViews(reading([other, row({ ...lost, id: 'w-20' }), stopped, alive]))
    expect(all.map((view) => view.row.id)).toEqual(['w-20', 'w-9', 'w-10', 'w-1'])
  })

  it('are counted without what is not known: a lost one uses no slot and claims nothing', () => {
    expect(factsOf(reading([]), views)).toEqual({
      alive: 1,
      known: 2,
      lost: 1,
      running: 2,
      slots: 4,
      queued: 1,
      claimP95Ms: 7,
      recovered5m: 0
    })
  })

  it('have no claim time when none has claimed', () => {
    const quiet = workerViews(reading([row({ claimP95Ms: null })]))
    expect(factsOf(reading([]), quiet).claimP95Ms).toBeNull()
  })

  it('have ages by the database clock, never below zero', () => {
    const [view] = workerViews(reading([row({ lastHeartbeatAt: at + 500, lastPollAt: at - 80, lastClaimAt: null })]))
    expect(view).toMatchObject({ heartbeatMs: 0, pollMs: 80, claimMs: null })
  })
})
