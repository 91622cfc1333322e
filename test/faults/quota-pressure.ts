import { setTimeout as sleep } from 'node:timers/promises'
import { openMysql, parseMysqlUrl } from '../../src-main/connections/index.ts'
import { AppError, newTask, systemClock, type NewTask, type SqlDatabase } from '../../src-main/kernel/index.ts'
import { openMysqlStore } from '../../src-main/queue/store-mysql/index.ts'
import type { TaskStore } from '../../src-main/queue/task-store.ts'

/** Of these no more than the quota may be unfinished; see `limitsFor` in world.ts. */
export const boundedType = 'bounded'

const programs = 2
/** Tasks of one submission, in turn: all of them or none. */
const sizes = [1, 3, 2] as const
const pauseMs = 200

interface Program {
  readonly store: TaskStore
  readonly database: SqlDatabase
}

/** Programs that submit tasks of one type at the same moments, more than its quota lets in. */
export class QuotaPressure {
  /** Ids that came back. */
  readonly submitted: string[] = []
  /** Titles whose submission failed without an answer. */
  readonly unknown: string[] = []
  refusals = 0
  private readonly programs: readonly Program[]
  private readonly stopping = new AbortController()
  private running: Promise<unknown> = Promise.resolve()
  private made = 0

  private constructor(opened: readonly Program[]) {
    this.programs = opened
  }

  static async open(url: string): Promise<QuotaPressure> {
    return new QuotaPressure(await Promise.all(Array.from({ length: programs }, () => open(url))))
  }

  start(): void {
    this.running = Promise.all(this.programs.map((program) => this.run(program)))
  }

  /** When the faults are over; nothing is submitted any more. What would make the pressure prove nothing is returned. */
  async stop(): Promise<string[]> {
    this.stopping.abort()
    await this.running
    if (this.submitted.length === 0) return ['the quota let no task in']
    return this.refusals === 0 ? ['the quota never refused a task'] : []
  }

  async close(): Promise<void> {
    await this.stop()
    for (const { store, database } of this.programs) {
      await store.close()
      await database.close()
    }
  }

  private async run({ store }: Program): Promise<void> {
    for (let round = 0; !this.stopping.signal.aborted; round++) {
      const tasks = Array.from({ length: sizes[round % sizes.length] ?? 1 }, () => this.task())
      try {
        this.submitted.push(...(await store.submit(tasks)).map(({ taskId }) => taskId))
      } catch (error) {
        if (error instanceof AppError && error.code === 'QUOTA_EXCEEDED') this.refusals++
        else this.unknown.push(...tasks.map(({ title }) => title))
      }
      await sleep(pauseMs)
    }
  }

  private task(): NewTask {
    const title = `q${++this.made}`
    return newTask.parse({
      type: boundedType,
      title,
      payload: JSON.stringify({ title, sleepMs: 50 }),
      maxAttempts: 1_000,
      retryPolicy: { kind: 'list', delaysMs: [100] }
    })
  }
}

async function open(url: string): Promise<Program> {
  const database = await openMysql(parseMysqlUrl(url), {
    accessMode: 'read-write',
    poolSize: 1,
    acquireTimeoutMs: 5_000,
    connectTimeoutMs: 5_000,
    statementTimeoutMs: 8_000,
    clock: systemClock
  })
  return { database, store: await openMysqlStore({ database, clock: systemClock }) }
}
