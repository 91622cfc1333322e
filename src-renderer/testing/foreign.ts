import type { ProbeName, QueueReading } from '@contract'
import type { Scene } from './scenes.ts'

/** The scene with one connection that watches another application's table. */
export function withForeignTable(scene: Scene, id: string): Scene {
  const profile = { text: '{}', name: 'Mail queue', table: 'shop.mail_jobs' }
  const connections = scene.connections.map((one) =>
    one.id === id ? { ...one, accessMode: 'read-only' as const, profile } : one
  )
  return { ...scene, connections }
}

/** What one table tells of a queue: tasks, and neither attempts nor workers; nor `more`. What is not told is 0 in a reading. */
export function readingOfTable(reading: QueueReading, more: readonly ProbeName[] = []): QueueReading {
  const untold: readonly ProbeName[] = ['retries', 'durations', 'workers', 'schedules', ...more]
  const told = (probe: ProbeName, value: number): number => (untold.includes(probe) ? 0 : value)
  const flow = reading.flow.map((one) => ({
    ...{ ...one, retried5m: 0, recovered5m: 0, duration: null, pickup: null },
    submitted1m: told('submitted', one.submitted1m),
    finished1m: told('finished', one.finished1m),
    ended5m: told('ended', one.ended5m),
    failed5m: told('ended', one.failed5m)
  }))
  return {
    ...{ ...reading, flow, duration: null, pickup: null, workers: [], schedulesLate: null },
    oldest: untold.includes('oldest') ? [] : reading.oldest,
    limits: untold.map((probe) => ({ probe, reason: 'schema' as const, index: null, why: 'it is not in the table' }))
  }
}
