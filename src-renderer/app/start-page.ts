import { createPinia } from 'pinia'
import { createApp, watch } from 'vue'
import { useAppStore } from '@/state/app-store.ts'
import { feedStores } from '@/state/feed.ts'
import { i18n, speakAsBefore } from '@/shared/i18n/i18n.ts'
import { wearTheme } from '@/shared/theme/theme.ts'
import { provideClient } from '@/transport/client.ts'
import type { Transport } from '@/transport/transport.ts'
import App from './App.vue'
import { createPageRouter } from './router.ts'

/** Mounts the page on a transport and keeps its stores fed for as long as the page lives. */
export async function startPage(transport: Transport): Promise<void> {
  provideClient(transport.client)
  wearTheme()
  speakAsBefore()
  // Canvas text does not wait for web fonts: load them before the first chart is drawn.
  const fonts = ['Inter Variable', 'JetBrains Mono Variable'].flatMap((name) => [
    `400 12px "${name}"`,
    `600 12px "${name}"`
  ])
  await Promise.allSettled(fonts.map((font) => document.fonts.load(font)))

  const pinia = createPinia()
  createApp(App).use(pinia).use(i18n).use(createPageRouter(pinia)).mount('#app')
  const app = useAppStore(pinia)
  watch(transport.status, (status) => (app.link = status), { immediate: true })
  await transport.run(feedStores, new AbortController().signal)
}
