/** Kernel values (not types) that the page needs; the renderer sees nothing else of the kernel. */
export {
  alertLimits,
  alertSignals,
  enoughAttempts,
  firingSince,
  groupMs,
  isSilenced,
  signalsOfTypes
} from '../kernel/alert.ts'
export { errorCodes } from '../kernel/app-error.ts'
export { isHeldBack, probeNames } from '../kernel/probe.ts'
export { limitsBy } from '../kernel/queue-limits.ts'
export {
  isAbout,
  isQuiet,
  numbersOf,
  queueTrouble,
  queueTroubles,
  sayableRate,
  troubleOf
} from '../kernel/queue-trouble.ts'
export { metricNames, silenceMs, workerAliveMs } from '../kernel/reading.ts'
export { areSensitiveKeys, sensitiveKeyLimits } from '../kernel/sensitive-keys.ts'
export { defaultRetryPolicy, taskLimits } from '../kernel/task.ts'
