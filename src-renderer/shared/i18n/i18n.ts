import { createI18n } from 'vue-i18n'
import type { Settings } from '@contract'

/*
 * One JSON file per area and language, `locales/LANGUAGE/AREA.json`; the file's name is the first part of its keys.
 * A new area needs no registration. i18n.test.ts keeps the two languages alike.
 */
export const languages = ['en', 'zh-CN'] as const
export type Language = (typeof languages)[number]
/** A branch of messages as it comes out of the JSON files: texts, or what the build has compiled them to. */
export type Messages = Record<string, unknown>

const files = import.meta.glob<Messages>('./locales/*/*.json', { eager: true, import: 'default' })

export function messagesOf(language: Language): Messages {
  const areas: Messages = {}
  for (const [path, messages] of Object.entries(files)) {
    const [, , folder, file] = path.split('/')
    if (folder === language && file) areas[file.replace('.json', '')] = messages
  }
  return areas
}

export const i18n = createI18n({
  legacy: false,
  locale: 'en',
  fallbackLocale: 'en',
  messages: { en: messagesOf('en'), 'zh-CN': messagesOf('zh-CN') } as never
})

/** What the page needs of vue-i18n outside components; its own types are too deep to instantiate here. */
const composer = i18n.global as unknown as { te: (key: string, locale: string) => boolean; locale: { value: string } }

/** Whether there is a text for a key that is made at run time, such as a problem's code. */
export const hasText = (key: string): boolean => composer.te(key, 'en')

const storageKey = 'taskdeck.language'

/** `system` follows the browser's languages; anything but Chinese reads English. */
export function resolveLanguage(
  preference: Settings['language'],
  system: readonly string[] = navigator.languages
): Language {
  if (preference !== 'system') return preference
  return system[0]?.toLowerCase().startsWith('zh') ? 'zh-CN' : 'en'
}

export function speak(preference: Settings['language']): void {
  const language = resolveLanguage(preference)
  localStorage.setItem(storageKey, preference)
  composer.locale.value = language
  document.documentElement.lang = language
}

/** The language of the last run, for the first paint. */
export function speakAsBefore(): void {
  const stored = localStorage.getItem(storageKey)
  speak(stored === 'en' || stored === 'zh-CN' ? stored : 'system')
}
