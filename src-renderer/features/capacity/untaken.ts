import { isHeldBack, type QueueReading } from '@contract'
import { takingWorkers } from '@/shared/takes-tasks.ts'

/** A type of which tasks are due and wait, and that no worker takes though slots are free. */
export interface UntakenType {
  readonly type: string
  readonly waiting: number
}

/** A worker with free slots claims within a poll, and one that starts within seconds. */
const untakenMs = 30_000

/**
 * The longest wait first. Workers do not say which types they take, so this is read from what happens: nothing of the type runs, and none of its
 * attempts ended in the last five minutes. Empty when one of these figures is not known.
 */
export function untakenTypes(reading: QueueReading): UntakenType[] {
  const { depth, flow, oldest } = reading
  if ((['depth', 'oldest', 'ended'] as const).some((probe) => isHeldBack(reading, probe))) return []
  if (!takingWorkers(reading).some(({ running, slots }) => running < slots)) return []
  const countOf = (type: string, states: readonly string[]): number =>
    depth.reduce((all, part) => all + (part.type === type && states.includes(part.state) ? part.count : 0), 0)
  return oldest
    .filter(({ ageMs }) => ageMs > untakenMs)
    .filter(({ type }) => countOf(type, ['RUNNING', 'CANCEL_REQUESTED']) === 0)
    .filter(({ type }) => !flow.some((one) => one.type === type && one.ended5m > 0))
    .map(({ type }) => ({ type, waiting: countOf(type, ['QUEUED', 'RETRY_WAIT']) }))
}
