import { mount } from '@vue/test-utils'
import { expect, it } from 'vitest'
import { i18n } from '@/shared/i18n/i18n.ts'
import ServerSettings from './ServerSettings.vue'

it('speaks of claims and workers only where the queue is ours', () => {
  const all = ['commitsMayBeLost', 'isolationOfOthers', 'statementBinlog', 'sessionsScarce', 'noChanges'].map(
    (advice) => ({ name: advice, value: '1', verdict: 'look', advice })
  )
  const textOf = (isOurs: boolean): string =>
    mount(ServerSettings, {
      props: { settings: { status: 'known', value: all } as never, isOurs },
      global: { plugins: [i18n] }
    }).text()
  expect(textOf(true)).toMatch(/claims/)
  expect(textOf(false)).not.toMatch(/claim|worker|Taskdeck/i)
})
