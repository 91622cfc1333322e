import type { AppEvent } from '../contract/index.ts'
import type { Clock, QueueReading } from '../kernel/index.ts'
import type { Operations } from '../operations/index.ts'
import type { TaskStore } from '../queue/task-store.ts'
import type { AppLog } from './app-log.ts'
import { OpenIntents } from './open-intents.ts'
import { toProblem } from './problem.ts'
import { StandInRecovery } from './stand-in-recovery.ts'
import { StandInSchedules } from './stand-in-schedules.ts'

export interface AfterTickOptions {
  readonly clock: Clock
  readonly log: AppLog
  readonly operations: Operations
  readonly publish: (event: AppEvent) => void
}

/** What the app does for a queue that it may write to, beside each look at it. None of it may hold up the next one. */
export class AfterTick {
  private readonly options: AfterTickOptions
  private readonly recovery: StandInRecovery
  private readonly schedules: StandInSchedules
  private readonly openIntents: OpenIntents

  constructor(options: AfterTickOptions) {
    const { clock, operations } = options
    this.options = options
    this.recovery = new StandInRecovery(clock)
    this.schedules = new StandInSchedules(clock)
    this.openIntents = new OpenIntents(operations, clock)
  }

  begin(connectionId: string, reading: QueueReading, store: TaskStore): void {
    this.run(connectionId, reading, store).catch((error: unknown) => toProblem(error, this.options.log))
  }

  private async run(connectionId: string, reading: QueueReading, store: TaskStore): Promise<void> {
    const { log, publish } = this.options
    const moved = await this.recovery.run(connectionId, reading, store)
    if (moved.length > 0) {
      log.write('info', `connection ${connectionId}: recovered ${moved.length} tasks, as no worker is alive to do it`)
      publish({ kind: 'tasksChanged', connectionId, ids: moved.slice(0, 100) })
    }
    const submitted = await this.schedules.run(connectionId, reading, store)
    if (submitted > 0) log.write('info', `connection ${connectionId}: schedules submitted ${submitted} tasks`)
    await this.openIntents.settle(connectionId, store)
  }
}
