import { createPinia } from 'pinia'
import { expect, it } from 'vitest'
import { useConnectionsStore } from '@/state/connections-store.ts'
import { createPageRouter } from './router.ts'

it('tells an address without a page from the start', () => {
  const router = createPageRouter(createPinia())
  expect(router.resolve('/nonsense').name).toBe('unknown')
  expect(router.resolve('/c/local/nonsense').name).toBe('unknown')
  expect(router.resolve('/c/local/tasks').name).toBe('tasks')
})

it('stays with the connection that was asked for last, whichever page is ready first', async () => {
  const pinia = createPinia()
  const router = createPageRouter(pinia)
  router.addRoute({ name: 'overview', path: '/c/:connectionId/overview', component: { render: () => null } })
  const [asked, slow] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  router.beforeEach((to) => {
    if (to.params['connectionId'] !== 'first') return
    asked.resolve()
    return slow.promise
  })
  const first = router.push('/c/first/overview')
  await asked.promise
  await router.push('/c/second/overview')
  slow.resolve()
  await first
  expect(router.currentRoute.value.params['connectionId']).toBe('second')
  expect(useConnectionsStore(pinia).currentId).toBe('second')
})
