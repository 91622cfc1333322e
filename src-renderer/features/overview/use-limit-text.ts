import { computed, type ComputedRef, type Ref } from 'vue'
import { useI18n } from 'vue-i18n'
import type { ProbeLimit, ProbeName, QueueReading } from '@contract'
import { useFigureName } from '@/shared/figures/figure-name.ts'
import { useUnknownText } from '@/shared/figures/unknown-text.ts'

export interface ShownLimit {
  readonly key: string
  readonly figure: string
  /** The table never says it, however it is asked. */
  readonly isUntold: boolean
  readonly reason: string
  /** The index that would make it exact, as SQL; null when an index is not what is missing. */
  readonly index: string | null
}

/** What the cost guard held back, in the page's language. */
export function useLimitText(reading: Readonly<Ref<QueueReading | null>>): {
  limits: ComputedRef<ShownLimit[]>
  /** For a title: what is held back of these figures; undefined when nothing is. */
  limitsFor: (probes: readonly string[]) => string | undefined
  /** For a figure that is held back: that it is not known now, or why the table never says it. */
  unknownText: (probe: ProbeName) => string
} {
  const { t } = useI18n()
  const figureName = useFigureName()
  const { whyText, unknownText } = useUnknownText()

  function shown({ probe, reason, index }: ProbeLimit): ShownLimit {
    const said = reason === 'schema' ? whyText(probe) : ''
    return {
      key: `${probe} ${reason} ${index ?? ''}`,
      figure: figureName(probe),
      isUntold: reason === 'schema',
      reason: said || t(`overview.limit.reason.${reason}`),
      index
    }
  }
  const all = computed(() => (reading.value?.limits ?? []).map((limit) => ({ limit, text: shown(limit) })))

  return {
    unknownText: (probe) => unknownText(reading.value, probe),
    // Several statements of one figure may have been held back for the same reason.
    limits: computed(() => [...new Map(all.value.map(({ text }) => [text.key, text])).values()]),
    limitsFor(probes) {
      const lines = all.value
        .filter(({ limit }) => probes.includes(limit.probe))
        .map(({ text }) => [
          `${text.figure}: ${text.reason}`,
          text.index ? t('overview.limit.index', { sql: text.index }) : ''
        ])
      return lines.length > 0 ? [...new Set(lines.flat().filter(Boolean))].join('\n') : undefined
    }
  }
}
