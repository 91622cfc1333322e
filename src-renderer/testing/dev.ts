import '../csp.ts'
import '@fontsource-variable/inter'
import '@fontsource-variable/jetbrains-mono'
import '../shared/theme/base.css'
import { shallowRef } from 'vue'
import { startPage } from '@/app/start-page.ts'
import type { TransportStatus } from '@/transport/transport.ts'
import { FakeApp, problemError } from './fake-client.ts'
import { makeScene, refused, sceneNames } from './scenes.ts'

/**
 * The page on a fake app, for looking at it: `?scene=NAME&theme=dark&lang=en`; `hold=tasks.list` never answers that call and
 * `fail=tasks.list` refuses it; `database=waiting`, `well` or `blind`. Never part of the build.
 */
const query = new URLSearchParams(location.search)
const name = sceneNames.find((one) => one === query.get('scene')) ?? 'failing'
const scene = makeScene(name, Date.now())
const theme = query.get('theme') === 'light' ? 'light' : 'dark'
const language = query.get('lang') === 'zh' ? 'zh-CN' : 'en'
localStorage.setItem('taskdeck.theme', theme)
localStorage.setItem('taskdeck.language', language)
const app = new FakeApp({ ...scene, info: { ...scene.info, settings: { theme, language, sensitiveKeys: [] } } })
app.gate = async (path) => {
  if (query.get('hold') === path) await new Promise(() => undefined)
  if (query.get('fail') === path) throw problemError(refused)
}
const database = (['waiting', 'well', 'blind'] as const).find((one) => one === query.get('database'))
if (database) app.databaseScene = database
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
