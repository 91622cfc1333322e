import { useI18n } from 'vue-i18n'
import { hasText } from '../i18n/i18n.ts'

/** The name of a figure that a probe asks for, the same on all pages; what has none keeps its id. */
export function useFigureName(): (probe: string) => string {
  const { t } = useI18n()
  return (probe) => (hasText(`figures.${probe}`) ? t(`figures.${probe}`) : probe)
}
