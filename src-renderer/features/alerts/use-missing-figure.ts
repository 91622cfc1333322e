import { useI18n } from 'vue-i18n'
import type { AlertSignal, ProbeName, QueueReading } from '@contract'
import { useFigureName } from '@/shared/figures/figure-name.ts'
import { useUnknownText } from '@/shared/figures/unknown-text.ts'

/** Of which figures of a reading a signal is made; `blindMs` needs none. */
const probesOf: Readonly<Record<AlertSignal, readonly ProbeName[]>> = {
  oldestMs: ['oldest'],
  failureRate: ['ended'],
  recoveredRise: ['ended', 'retries'],
  workersSilent: ['workers'],
  poolUse: ['workers'],
  databaseUse: ['server'],
  claimP95: ['workers'],
  progressStopped: ['depth', 'finished'],
  growth: ['submitted', 'finished'],
  schedulesLate: ['schedules'],
  blindMs: []
}

/** Why a rule has no figure to judge: the table never says it, which is so for good, or it is held back now; '' when neither is so. */
export function useMissingFigure(): (reading: QueueReading | null, signal: AlertSignal) => string {
  const { t } = useI18n()
  const { whyText } = useUnknownText()
  const figureName = useFigureName()
  return (reading, signal) => {
    const missing = (reading?.limits ?? []).filter(({ probe }) => probesOf[signal].some((name) => name === probe))
    const limit = missing.find(({ reason }) => reason === 'schema') ?? missing[0]
    if (!limit) return ''
    if (limit.reason === 'schema') return t('alerts.neverTold', { why: whyText(limit.probe) })
    const reason = t(`frame.monitoring.reason.${limit.reason}`)
    return t('alerts.heldBack', { figure: figureName(limit.probe), reason })
  }
}
