import { isTerminal, type Progress, type TaskSummary } from '@contract'

/** What one look at a running task showed. `at` is the page's clock, ms. */
export interface ProgressSample {
  readonly at: number
  readonly attempt: number
  readonly processed: number
}

const windowMs = 60_000
/** Two looks nearer than this say more about the looks than about the work. */
const shortestMs = 1_500

/** The looks of the last minute at this attempt; an attempt that resumes counts from where it began, not from zero. */
export function addSample(
  samples: readonly ProgressSample[],
  task: Pick<TaskSummary, 'attempt' | 'progress' | 'state'>,
  at: number
): readonly ProgressSample[] {
  if (!task.progress || isTerminal(task.state)) return []
  const sample = { at, attempt: task.attempt, processed: task.progress.processed }
  return [...samples.filter((one) => one.attempt === task.attempt && at - one.at < windowMs), sample]
}

/** Rows a second over the looks, null while they do not tell. */
export function rateOf(samples: readonly ProgressSample[]): number | null {
  const first = samples[0]
  const last = samples.at(-1)
  if (!first || !last || last.at - first.at < shortestMs) return null
  return Math.max(0, (last.processed - first.processed) / ((last.at - first.at) / 1000))
}

/** Milliseconds until all is processed at this rate; null when it cannot be told. */
export function timeLeft(progress: Progress, rate: number | null): number | null {
  if (rate === null || rate <= 0 || progress.total === null) return null
  return (Math.max(0, progress.total - progress.processed) / rate) * 1000
}
