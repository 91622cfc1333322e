import { createPinia } from 'pinia'
import { expect, it } from 'vitest'
import { createPageRouter } from './router.ts'

it('tells an address without a page from the start', () => {
  const router = createPageRouter(createPinia())
  expect(router.resolve('/nonsense').name).toBe('unknown')
  expect(router.resolve('/c/local/nonsense').name).toBe('unknown')
  expect(router.resolve('/c/local/tasks').name).toBe('tasks')
})
