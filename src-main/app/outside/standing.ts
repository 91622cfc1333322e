import type { AlertSignal } from '../../kernel/index.ts'

/**
 * Figures that mean trouble in a single reading, because they hold time themselves: an age, a share of 5 minutes, a silence. The others
 * (a full pool, growth, no end for a minute) are daily life unless they last, which one reading cannot tell.
 */
export const standing: readonly AlertSignal[] = [
  'oldestMs',
  'failureRate',
  'workersSilent',
  'schedulesLate',
  'databaseUse'
]
