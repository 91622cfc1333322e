import { defineStore } from 'pinia'
import { ref, shallowRef, watch } from 'vue'
import type { AppInfo, Problem, Settings } from '@contract'
import { speak } from '@/shared/i18n/i18n.ts'
import { themePreference } from '@/shared/theme/theme.ts'
import { useClient } from '@/transport/client.ts'
import { toProblem } from '@/transport/problem.ts'
import type { TransportStatus } from '@/transport/transport.ts'

/** A moment of one connection, the database's clock. */
export interface ShownMoment {
  readonly connectionId: string
  readonly at: number
}

/** What is true of the app as a whole: its link to this page, version, settings, vault, and notices nobody asked for. */
export const useAppStore = defineStore('app', () => {
  const link = shallowRef<TransportStatus>({ kind: 'connecting' })
  const info = shallowRef<AppInfo | null>(null)
  const notices = ref<Problem[]>([])
  /** What the reader was sent to look at last, by a notification for example; the frame goes there. */
  const shown = shallowRef<ShownMoment | null>(null)
  const settings = shallowRef<Settings>({ theme: themePreference.value, language: 'system', sensitiveKeys: [] })

  watch(settings, ({ theme, language }) => {
    themePreference.value = theme
    speak(language)
  })

  function addNotice(problem: Problem): void {
    const known = notices.value.some((notice) => notice.code === problem.code && notice.message === problem.message)
    if (!known) notices.value.push(problem)
  }

  function dismissNotice(problem: Problem): void {
    notices.value = notices.value.filter((notice) => notice !== problem)
  }

  async function load(signal?: AbortSignal): Promise<void> {
    info.value = await useClient().app.info(undefined, { signal })
    settings.value = info.value.settings
    for (const notice of info.value.notices) addNotice(notice)
  }

  /** Worn at once; when saving fails it stays for this run and the reader is told. */
  async function saveSettings(change: Partial<Settings>): Promise<Problem | null> {
    settings.value = { ...settings.value, ...change }
    try {
      settings.value = await useClient().app.saveSettings(change)
      return null
    } catch (error) {
      return toProblem(error)
    }
  }

  function show(moment: ShownMoment): void {
    shown.value = moment
  }

  return { link, info, notices, settings, shown, show, addNotice, dismissNotice, load, saveSettings }
})
