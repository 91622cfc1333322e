import type { AlertRule, AlertRuleDraft, AlertSignal } from '../kernel/index.ts'

const second = 1_000
const minute = 60 * second
const hour = 60 * minute

type Thresholds = Pick<AlertRuleDraft, 'above' | 'clearAt' | 'forMs' | 'clearForMs'>

/**
 * The alerts that article A names, with its figures where it gives some, and four of our own. Each clears well below its
 * threshold, or some time later, so that a value that plays around it fires once.
 */
const thresholds: Record<AlertSignal, Thresholds> = {
  oldestMs: { above: 5 * minute, clearAt: 4 * minute, forMs: minute, clearForMs: minute },
  failureRate: { above: 0.1, clearAt: 0.05, forMs: 2 * minute, clearForMs: 5 * minute },
  // A handful is what one killed worker leaves. The rise is over after 5 min even if timeouts go on at that rate: it clears later.
  recoveredRise: { above: 5, clearAt: 0, forMs: 2 * minute, clearForMs: 10 * minute },
  // A worker counts as silent after 30 s already.
  workersSilent: { above: 0, clearAt: 0, forMs: 30 * second, clearForMs: minute },
  poolUse: { above: 0.9, clearAt: 0.8, forMs: 5 * minute, clearForMs: 2 * minute },
  databaseUse: { above: 0.8, clearAt: 0.7, forMs: 2 * minute, clearForMs: 2 * minute },
  claimP95: { above: 200, clearAt: 150, forMs: 5 * minute, clearForMs: 2 * minute },
  // Tasks that take minutes each are usual: for longer ones this is to be raised.
  progressStopped: { above: 0, clearAt: 0, forMs: 10 * minute, clearForMs: minute },
  // A batch comes within a minute and is no growth yet.
  growth: { above: 10, clearAt: 0, forMs: 15 * minute, clearForMs: 5 * minute },
  schedulesLate: { above: 0, clearAt: 0, forMs: minute, clearForMs: minute },
  // A sampler on a dear server reads every 30 s: that, and a reading that takes its 10 s, must be clear.
  blindMs: { above: minute, clearAt: 45 * second, forMs: 0, clearForMs: 30 * second }
}

/** Without a connection's id: they are the same everywhere. In the order in which they are shown. */
export const defaultRules: readonly Omit<AlertRule, 'connectionId'>[] = Object.entries(thresholds).map(
  ([signal, values]) => ({
    id: `default-${signal}`,
    isDefault: true,
    signal: signal as AlertSignal,
    type: '',
    ...values,
    repeatMs: hour,
    enabled: true
  })
)
