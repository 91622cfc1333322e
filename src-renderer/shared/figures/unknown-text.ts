import { useI18n } from 'vue-i18n'
import type { ProbeName, QueueReading } from '@contract'
import { hasText } from '../i18n/i18n.ts'
import { untoldFigures } from './untold.ts'

/** What is said of a figure that is not there. */
export function useUnknownText(): {
  /** Why a table that is another application's never tells it; '' when there is no more to say. */
  whyText: (probe: string) => string
  /** That, or that it is not known now. */
  unknownText: (reading: Pick<QueueReading, 'limits'> | null, probe: ProbeName) => string
} {
  const { t } = useI18n()
  const whyText = (probe: string): string =>
    hasText(`foreign.why.${probe}`) ? t('foreign.unknown', { why: t(`foreign.why.${probe}`) }) : ''
  return {
    whyText,
    unknownText: (reading, probe) => (untoldFigures(reading).has(probe) && whyText(probe)) || t('charts.unknown')
  }
}
