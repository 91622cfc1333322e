import type { Language } from '../../alerting/notifiers/index.ts'
import type { Settings } from '../../contract/index.ts'

const systemLocale = (): string => Intl.DateTimeFormat().resolvedOptions().locale

/** The language of messages: the page's, or this machine's. */
export function messageLanguage(chosen: Settings['language'], locale = systemLocale()): Language {
  if (chosen !== 'system') return chosen
  return locale.toLowerCase().startsWith('zh') ? 'zh-CN' : 'en'
}
