import { useI18n } from 'vue-i18n'
import type { AlertRule, AlertSignal } from '@contract'
import { limitText } from '@/shared/format/signal.ts'

type Limit = Pick<AlertRule, 'signal' | 'above'>

/** Names and conditions of rules in the page's language. */
export function useSignalText(): {
  nameOf: (one: { signal: AlertSignal; type: string }) => string
  conditionOf: (rule: Limit) => string
  /** ", against 10 %"; empty where anything above none is too much. */
  against: (firing: Limit) => string
} {
  const { t } = useI18n()
  return {
    nameOf: ({ signal, type }) => [t(`alerts.signal.${signal}`), type].filter(Boolean).join(' · '),
    // More than none of what should never be.
    conditionOf: ({ signal, above }) => (above === 0 ? t('alerts.any') : `> ${limitText(signal, above)}`),
    against: ({ signal, above }) => (above === 0 ? '' : t('alerts.against', { limit: limitText(signal, above) }))
  }
}
