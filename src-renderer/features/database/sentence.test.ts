import { describe, expect, it } from 'vitest'
import type { DatabaseHealth, LockWait, ServerHealth } from '@contract'
import { demoFile, demoServer } from '@/testing/demo-database.ts'
import { decideSentence, firstBlocker, toneOf } from './sentence.ts'

const server = (change: Partial<ServerHealth> = {}): DatabaseHealth => {
  const health = demoServer('well', 0) as ServerHealth
  const settings = { status: 'known' as const, at: 0, value: [] }
  return { ...health, settings, ...change }
}
const known = <T>(value: T): { status: 'known'; at: number; value: T } => ({ status: 'known', at: 0, value })
const waits = known((demoServer('waiting', 0) as ServerHealth).waits).value as { value: LockWait[] }
const kindOf = (change: Partial<ServerHealth>): string => decideSentence(server(change)).kind

describe('the sentence of a database', () => {
  it('is well when nothing is wrong', () => {
    expect(decideSentence(server())).toEqual({ kind: 'well' })
    expect(decideSentence(demoFile(0))).toEqual({ kind: 'file' })
  })

  it('names the session that others wait for, and for how long', () => {
    const sentence = decideSentence(server({ waits: known(waits.value) }))
    expect(sentence).toMatchObject({ kind: 'waits', sessions: 3, longestMs: 41_000, isLong: true })
    expect(sentence.kind === 'waits' && sentence.blocker.sessionId).toBe('9041')
    expect(toneOf(sentence)).toBe('bad')
  })

  it('takes a short wait for the give and take that it is', () => {
    const short = waits.value.slice(0, 1).map((wait) => ({ ...wait, waitedMs: 0 }))
    expect(toneOf(decideSentence(server({ waits: known(short) })))).toBe('warn')
  })

  it('puts a broken plan first', () => {
    const plans = server().plans.map((plan) => ({ ...plan, verdict: 'bad' as const, advice: 'sorts' as const }))
    expect(decideSentence(server({ plans, waits: known(waits.value) }))).toEqual({ kind: 'plan', advice: 'sorts' })
  })

  it('knows replication that stopped from one that is late', () => {
    const channel = { name: '', lagMs: 1_000, reads: true, applies: true, errno: 0 }
    expect(kindOf({ replicas: known([channel]) })).toBe('well')
    expect(kindOf({ replicas: known([{ ...channel, lagMs: 31_000 }]) })).toBe('replicaLate')
    expect(kindOf({ replicas: known([{ ...channel, lagMs: null, applies: false }]) })).toBe('replicaStopped')
  })

  it('warns of an old transaction before a purge that lags', () => {
    const [blocking] = waits.value.map((wait) => wait.blocking)
    const old = { open: [blocking!], more: false, unpurged: 5_000_000 }
    expect(kindOf({ transactions: known(old) })).toBe('oldTransaction')
    expect(kindOf({ transactions: known({ ...old, open: [] }) })).toBe('unpurged')
  })

  it('does not say that nobody waits where that may not be seen', () => {
    const blind = demoServer('blind', 0) as ServerHealth
    expect(decideSentence({ ...blind, settings: known([]) })).toEqual({ kind: 'partly' })
  })
})

it('does not say that claims read in order where their plans could not be read', () => {
  const unread = <T extends DatabaseHealth>(health: T): T => ({
    ...health,
    plans: health.plans.map((plan) => ({ ...plan, verdict: 'info' as const, advice: 'notPlanned' as const }))
  })
  expect(decideSentence(unread(server()))).toEqual({ kind: 'partly' })
  expect(decideSentence(unread(demoFile(0)))).toEqual({ kind: 'partly' })
})

it('the first blocker is the one at the head of a chain', () => {
  const [wait] = waits.value
  const session = (sessionId: string) => ({ ...wait!.blocking, sessionId })
  const chain = [
    { ...wait!, waiting: session('c'), blocking: session('b') },
    { ...wait!, waiting: session('d'), blocking: session('b') },
    { ...wait!, waiting: session('b'), blocking: session('a') }
  ]
  expect(firstBlocker(chain)?.sessionId).toBe('a')
  expect(firstBlocker([])).toBeNull()
})
