import { useI18n } from 'vue-i18n'
import type { Problem } from '@contract'
import { clockSeconds, count, duration, percent } from '@/shared/format/format.ts'
import { signalText } from '@/shared/format/signal.ts'
import { whatHappened } from '@/shared/ui/problem-text.ts'
import type { FleetRow } from './fleet-rows.ts'

/** What is worst about a connection, in a few words. */
export function useCauseText(): (row: Pick<FleetRow, 'cause'>) => string {
  const { t } = useI18n()

  const what = (problem: Problem): string => whatHappened(t, problem)

  return ({ cause }) => {
    switch (cause.kind) {
      case 'lost':
        return cause.since === null
          ? t('fleet.cause.neverReached', { what: what(cause.problem) })
          : t('fleet.cause.lost', { what: what(cause.problem), time: clockSeconds(cause.since) })
      case 'noWorkers':
        return t('fleet.cause.noWorkers', { waiting: count(cause.waiting) }, cause.waiting)
      case 'failing':
        return t('fleet.cause.failing', { type: cause.type, rate: percent(cause.failureRate) })
      case 'retrying':
        return t('fleet.cause.retrying', { type: cause.type, rate: percent(cause.againRate) })
      case 'oldest':
        return t('fleet.cause.oldest', { type: cause.type, age: duration(cause.ageMs) })
      case 'alert': {
        const signal = t(`alerts.signal.${cause.signal}`)
        const name = cause.type === '' ? signal : `${signal} (${cause.type})`
        if (cause.isEnding) return t('fleet.cause.alertEnding', { name })
        return t('fleet.cause.alert', {
          name,
          value: signalText(cause.signal, cause.value),
          time: clockSeconds(cause.since)
        })
      }
      case 'late':
        return t('fleet.cause.late', { age: duration(cause.ageMs) })
      case 'silent':
        return cause.others > 0
          ? t('fleet.cause.silentMany', { worker: cause.worker, others: count(cause.others) })
          : t('fleet.cause.silent', { worker: cause.worker, age: duration(cause.silentMs) })
      default:
        return t(`fleet.cause.${cause.kind}`)
    }
  }
}
