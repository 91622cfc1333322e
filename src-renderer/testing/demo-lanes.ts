import type { EndedAttempt, Lanes, RunningAttempt } from '@contract'
import type { QueueScene } from './demo-queue.ts'

/** Attempts of a scene's workers, made slot by slot from its start on, so that each look agrees with the ones before. */
interface Slot {
  readonly worker: number
  readonly ended: EndedAttempt[]
  seed: number
  /** Where the slot's next attempt starts. */
  next: number
}

const historyMs = 75 * 60_000
const silentMs = 192_000
const leaseMs = 30_000

export class DemoLanes {
  private readonly scene: QueueScene
  private readonly slots: Slot[] = []

  constructor(scene: QueueScene) {
    this.scene = scene
    for (let worker = 0; worker < scene.workers; worker++) {
      for (let slot = 0; slot < 3 + (worker % 4); slot++) {
        const seed = worker * 97 + slot * 13 + 7
        this.slots.push({ worker, seed, ended: [], next: scene.startedAt - historyMs - (seed % 20) * 1_000 })
      }
    }
  }

  look(question: { fromMsAgo: number; limit?: number; type?: string | null }, now: number): Lanes {
    const { fromMsAgo, limit = 2_000, type = null } = question
    const isOf = (one: { type: string }): boolean => type === null || one.type === type
    const running: RunningAttempt[] = []
    for (const slot of this.slots) {
      const open = this.advance(slot, this.knownUntil(slot, now))
      if (open && open.startedAt <= now) running.push(this.running(slot, open, now))
    }
    if (this.scene.failingSinceMs !== null) running.push(...this.stuck(now))
    const all = this.slots
      .flatMap((slot) => slot.ended.filter((one) => one.endedAt > now - fromMsAgo && isOf(one)))
      .sort((a, b) => b.endedAt - a.endedAt)
    return {
      at: now,
      ended: all.slice(0, limit),
      allEnded: all.length < limit,
      running: running.filter(isOf).sort((a, b) => a.leaseUntil - b.leaseUntil),
      allRunning: true,
      limits: []
    }
  }

  private knownUntil(slot: Slot, now: number): number {
    return this.isSilent(slot) ? this.scene.startedAt - silentMs : now
  }

  private isSilent({ worker }: Slot): boolean {
    return worker < this.scene.silent
  }

  /** Ends what is over by `until`; returns the attempt that runs then, if one does. */
  private advance(slot: Slot, until: number): EndedAttempt | null {
    for (;;) {
      const before = slot.seed
      const attempt = this.attemptOf(slot)
      if (attempt.endedAt > until) {
        slot.seed = before
        return attempt
      }
      slot.ended.push(attempt)
      slot.next = attempt.endedAt + 40 + chance(slot) * (this.imports(slot) ? 400 : 9_000)
    }
  }

  private attemptOf(slot: Slot): EndedAttempt {
    const { types, failingSinceMs, startedAt } = this.scene
    const imports = this.imports(slot)
    const index = imports ? 0 : Math.min(types.length - 1, 1 + Math.floor(chance(slot) ** 1.5 * (types.length - 1)))
    const [type = 'mail.send', , p95Ms = 4_000] = types[index] ?? []
    const failing = imports && failingSinceMs !== null && slot.next > startedAt - failingSinceMs
    const luck = chance(slot)
    const outcome = outcomeOf(luck, failing)
    const usual = p95Ms * (0.2 + chance(slot) * 0.7)
    const took = failing && outcome !== 'SUCCESS' ? 29_000 + chance(slot) * 1_500 : Math.min(45_000, usual * 2)
    return {
      taskId: String(48_000_000 + ((slot.worker * 7_919 + slot.ended.length * 104_729 + slot.seed) % 24_000) + 1),
      attempt: outcome === 'FAILED' && failing ? 5 : 1 + Math.floor(luck * 3),
      type,
      workerId: this.workerOf(slot),
      startedAt: Math.round(slot.next),
      endedAt: Math.round(slot.next + took),
      outcome,
      errorCode: outcome === 'RETRY' || outcome === 'FAILED' ? 'LAB_GATEWAY_TIMEOUT' : null
    }
  }

  private imports({ worker }: Slot): boolean {
    return worker < 3 || worker >= this.scene.workers - 3
  }

  private workerOf({ worker }: Slot): string {
    return `imp-${String(this.scene.workers - worker).padStart(2, '0')}`
  }

  private running(slot: Slot, open: EndedAttempt, now: number): RunningAttempt {
    const { taskId, attempt, type, workerId, startedAt } = open
    const silent = this.isSilent(slot)
    const leaseUntil = silent
      ? this.scene.startedAt + 48_000 + (slot.seed % 4) * 700
      : now + leaseMs - (slot.seed % 9_000)
    const lease = { leaseUntil, leaseMs: silent ? 240_000 : leaseMs }
    return { taskId, attempt, type, workerId, startedAt, ...lease, state: 'RUNNING', stateSince: startedAt }
  }

  /** Two that somebody should look at. */
  private stuck(now: number): RunningAttempt[] {
    const base = { attempt: 2, type: 'import.medical', leaseUntil: now + leaseMs - 4_000, leaseMs }
    const [slowAt, askedAt] = [this.scene.startedAt - 552_000, this.scene.startedAt - 186_000]
    return [
      { ...base, taskId: '48009117', workerId: 'imp-01', startedAt: slowAt, state: 'RUNNING', stateSince: slowAt },
      {
        ...base,
        taskId: '48009461',
        workerId: 'imp-03',
        startedAt: askedAt - 30_000,
        state: 'CANCEL_REQUESTED',
        stateSince: askedAt
      }
    ]
  }
}

function outcomeOf(luck: number, failing: boolean): EndedAttempt['outcome'] {
  if (failing) return luck < 0.6 ? 'RETRY' : luck < 0.8 ? 'FAILED' : 'SUCCESS'
  if (luck < 0.94) return 'SUCCESS'
  return luck < 0.96
    ? 'RETRY'
    : luck < 0.97
      ? 'FAILED'
      : luck < 0.98
        ? 'PARTIAL_SUCCESS'
        : luck < 0.985
          ? 'CANCELLED'
          : luck < 0.99
            ? 'HANDED_BACK'
            : luck < 0.994
              ? 'LEASE_EXPIRED'
              : 'SUCCESS'
}

/** The next of the slot's numbers in [0, 1). */
function chance(slot: Slot): number {
  slot.seed = (slot.seed * 1_664_525 + 1_013_904_223) % 4_294_967_296
  return slot.seed / 4_294_967_296
}
