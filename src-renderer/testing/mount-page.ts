import { mount, flushPromises, type VueWrapper } from '@vue/test-utils'
import { NMessageProvider } from 'naive-ui'
import { createPinia, setActivePinia } from 'pinia'
import { h, type Component } from 'vue'
import { createMemoryHistory, createRouter, type Router } from 'vue-router'
import { useAppStore } from '@/state/app-store.ts'
import { useConnectionsStore } from '@/state/connections-store.ts'
import { dispatch } from '@/state/feed.ts'
import { i18n } from '@/shared/i18n/i18n.ts'
import { provideClient } from '@/transport/client.ts'
import { FakeApp } from './fake-client.ts'
import type { Scene } from './scenes.ts'

export interface MountedPage {
  readonly wrapper: VueWrapper
  readonly app: FakeApp
  readonly router: Router
}

/** Mounts a page at `path` on a fake app, with the stores filled as the event stream would. `prepare` gets the app before its first call. */
export async function mountPage(
  page: Component,
  scene: Scene,
  path: string,
  now: () => number,
  prepare: (app: FakeApp) => void = () => undefined
): Promise<MountedPage> {
  const pinia = createPinia()
  setActivePinia(pinia)
  const app = new FakeApp(scene, now)
  prepare(app)
  provideClient(app.client)
  const blank = (): ReturnType<typeof h> => h('div')
  const named = ['tasks', 'workers', 'overview', 'alerts', 'database', 'capacity'].map((name) => ({
    name,
    path: `/c/:connectionId/${name}`,
    component: blank
  }))
  const flat = ['local-worker', 'connections', 'settings', 'fleet'].map((name) => ({
    name,
    path: `/${name}`,
    component: blank
  }))
  const router = createRouter({
    history: createMemoryHistory(),
    routes: [
      ...named,
      ...flat,
      { name: 'type', path: '/c/:connectionId/types/:type', component: blank },
      { name: 'connection-new', path: '/connections/new', component: blank },
      { name: 'connection-edit', path: '/connections/:editedId/edit', component: blank }
    ]
  })
  await router.push(path)
  const id = router.currentRoute.value.params['connectionId']
  if (typeof id === 'string') useConnectionsStore().currentId = id
  useAppStore().link = { kind: 'open' }
  await useAppStore().load()
  dispatch({ kind: 'connections', connections: scene.connections })
  const wrapper = mount(NMessageProvider, {
    slots: { default: () => h(page) },
    global: { plugins: [pinia, router, i18n] },
    attachTo: document.body
  })
  await flushPromises()
  return { wrapper, app, router }
}
