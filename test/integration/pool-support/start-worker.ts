import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { systemClock } from '../../../src-main/kernel/index.ts'
import {
  createWorker,
  type Worker,
  type WorkerLogLine,
  type WorkerOptions
} from '../../../src-main/queue/pool/index.ts'
import { MemoryStore } from './memory-store.ts'

export const faultHandlers = join(import.meta.dirname, '../pool-handlers')

export interface TestWorker {
  readonly worker: Worker
  readonly store: MemoryStore
  readonly lines: WorkerLogLine[]
  readonly dir: string
}

/** A folder that is removed after the test. */
export function temporaryDir(): string {
  const dir = mkdtempSync(join(tmpdir(), 'taskdeck-pool-'))
  // A handler that is still being stopped may write into it meanwhile.
  onTestFinished(() => rmSync(dir, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 }))
  return dir
}

/** A worker with real threads on a store in memory; stopped after the test. */
export async function startWorker(changes: Partial<WorkerOptions> = {}): Promise<TestWorker> {
  const store = new MemoryStore()
  const lines: WorkerLogLine[] = []
  const dir = temporaryDir()
  const worker = createWorker({
    store: store.asTaskStore(),
    clock: systemClock,
    workerId: 'worker',
    version: '0.0.0',
    slots: 4,
    // Nothing recovers a lease that a busy machine lets run out: tests of leases choose their own.
    leaseMs: 20_000,
    pollMs: 20,
    graceMs: 2_000,
    timeoutGraceMs: 100,
    cancelGraceMs: 200,
    handlers: { builtIn: true, dir: faultHandlers },
    artifactDir: join(dir, 'artifacts'),
    onLog: (line) => lines.push(line),
    ...changes
  })
  onTestFinished(() => worker.stop())
  await worker.start()
  return { worker, store, lines, dir }
}
