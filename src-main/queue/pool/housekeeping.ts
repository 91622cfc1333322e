import type { LogLevel } from '../../kernel/index.ts'
import { ArtifactCleaner } from './artifact-cleaner.ts'
import type { DatabaseState } from './database-state.ts'
import { RecoveryLoop } from './recovery-loop.ts'
import { ScheduleLoop } from './schedule-loop.ts'
import type { WorkerOptions } from './worker-options.ts'

export interface HousekeepingParts {
  readonly options: Required<WorkerOptions>
  readonly database: DatabaseState
  readonly log: (level: LogLevel, message: string, taskId?: string | null) => void
  /** Tasks were submitted here. */
  readonly onWork: () => void
}

/** What each worker does for the queue beside its own tasks: recovery, schedules, old files. */
export class Housekeeping {
  private readonly loops: readonly { start(): void; stop(): Promise<void> }[]

  constructor({ options, database, log, onWork }: HousekeepingParts) {
    const { store, clock, recoverMs, artifactDir, artifactDays } = options
    this.loops = [
      new RecoveryLoop({
        ...{ store, clock, database, recoverMs },
        onRecovered: (tasks) => {
          // Tasks whose parents ended are part of the ordinary course: released, or failed as was chosen.
          for (const task of tasks.filter(({ reason }) => reason !== 'DEPENDENCY'))
            log('warn', `recovered (${task.reason}): now ${task.state}`, task.taskId)
        }
      }),
      new ScheduleLoop({
        ...{ store, clock, database },
        onSubmitted: (count) => {
          log('info', `schedules: ${count} submitted`)
          onWork()
        }
      }),
      new ArtifactCleaner({ artifactDir, artifactDays, clock, log })
    ]
  }

  start(): void {
    for (const loop of this.loops) loop.start()
  }

  async stop(): Promise<void> {
    await Promise.all(this.loops.map((loop) => loop.stop()))
  }
}
