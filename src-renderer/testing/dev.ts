import '../csp.ts'
import '@fontsource-variable/inter'
import '@fontsource-variable/jetbrains-mono'
import '../shared/theme/base.css'
import { shallowRef } from 'vue'
import { startPage } from '@/app/start-page.ts'
import type { TransportStatus } from '@/transport/transport.ts'
import { FakeApp } from './fake-client.ts'
import { makeScene, sceneNames } from './scenes.ts'

/** The page on a fake app, for looking at it: `?scene=NAME&theme=dark&lang=en`. Never part of the build. */
const query = new URLSearchParams(location.search)
const name = sceneNames.find((one) => one === query.get('scene')) ?? 'failing'
const scene = makeScene(name, Date.now())
const theme = query.get('theme') === 'light' ? 'light' : 'dark'
const language = query.get('lang') === 'zh' ? 'zh-CN' : 'en'
localStorage.setItem('taskdeck.theme', theme)
localStorage.setItem('taskdeck.language', language)
const app = new FakeApp({ ...scene, info: { ...scene.info, settings: { theme, language } } })
const status = shallowRef<TransportStatus>({ kind: 'connecting' })
setInterval(() => app.tick(), 2_000)
await startPage({
  client: app.client,
  status,
  async run(onOpen, signal) {
    status.value = query.has('gone') ? { kind: 'gone', since: Date.now() - 42_000 } : { kind: 'open' }
    await onOpen(signal)
  }
})
