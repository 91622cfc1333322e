import type { Clock } from '../../kernel/index.ts'
import type { Recovered, TaskStore } from '../task-store.ts'
import type { DatabaseState } from './database-state.ts'
import { PacedLoop } from './paced-loop.ts'

export interface RecoveryLoopOptions {
  readonly store: TaskStore
  readonly clock: Clock
  readonly database: DatabaseState
  readonly recoverMs: number
  readonly onRecovered: (tasks: readonly Recovered[]) => void
}

export interface RecoveryRound {
  readonly store: TaskStore
  /** After each batch that ended something. */
  readonly onRecovered: (tasks: readonly Recovered[]) => void
  /** Ends the round after the batch under way. */
  readonly signal?: AbortSignal
}

const batchSize = 200
/** A fleet that died leaves many, and so do deadlines that pass together; the next round takes what is beyond, and comes soon. */
const batchesPerRound = 50
const soonMs = 100

/** Ends what is left behind now, in batches. True when there is more. Throws what the store throws; what was recovered before stays so. */
export async function recoverLeftBehind({ store, onRecovered, signal }: RecoveryRound): Promise<boolean> {
  for (let batch = 0; batch < batchesPerRound && !signal?.aborted; batch++) {
    const recovered = await store.recover(batchSize)
    if (recovered.length > 0) onRecovered(recovered)
    // `recover` takes as many of each kind; fewer than one full batch means that all are done.
    if (recovered.length < batchSize) return false
  }
  return true
}

/** Ends what dead workers left behind. Every worker runs it, at its own moments. */
export class RecoveryLoop {
  private readonly options: RecoveryLoopOptions
  private readonly loop: PacedLoop

  constructor(options: RecoveryLoopOptions) {
    this.options = options
    const { clock, recoverMs } = options
    const firstPauseMs = Math.min(recoverMs, 2_000) * clock.random()
    this.loop = new PacedLoop({ clock, firstPauseMs, round: (stopped) => this.round(stopped) })
  }

  start(): void {
    this.loop.start()
  }

  stop(): Promise<void> {
    return this.loop.stop()
  }

  private async round(stopped: AbortSignal): Promise<number> {
    const { store, clock, database, recoverMs, onRecovered } = this.options
    try {
      const isMore = await recoverLeftBehind({ store, onRecovered, signal: stopped })
      database.succeeded('recovery')
      // Until it is gone, every claim reads past it.
      if (isMore) return soonMs
    } catch (error) {
      database.failed('recovery', error)
    }
    return recoverMs * (0.8 + 0.4 * clock.random())
  }
}
