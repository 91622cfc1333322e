import { computed, ref, watchEffect } from 'vue'
import type { Settings } from '@contract'
import { cssVariables, type ThemeName } from './tokens.ts'

/** Which theme the page wears: the user's choice, or the system's while the choice is `system`. */
export type ThemePreference = Settings['theme']

const storageKey = 'taskdeck.theme'
const system = window.matchMedia('(prefers-color-scheme: dark)')
const systemIsDark = ref(system.matches)
system.addEventListener('change', (change) => (systemIsDark.value = change.matches))

/** The last choice is kept here too, so that the first paint has it before the app has answered. */
function remembered(): ThemePreference {
  const stored = localStorage.getItem(storageKey)
  return stored === 'dark' || stored === 'light' ? stored : 'system'
}

export const themePreference = ref<ThemePreference>(remembered())
export const themeName = computed<ThemeName>(() => {
  if (themePreference.value !== 'system') return themePreference.value
  return systemIsDark.value ? 'dark' : 'light'
})

/** Writes the tokens of the current theme to the document, now and on each change. */
export function wearTheme(): void {
  watchEffect(() => {
    localStorage.setItem(storageKey, themePreference.value)
    const root = document.documentElement
    root.style.colorScheme = themeName.value
    for (const [name, value] of Object.entries(cssVariables(themeName.value))) root.style.setProperty(name, value)
  })
}
