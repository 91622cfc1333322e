import { mount } from '@vue/test-utils'
import { expect, it } from 'vitest'
import type { TaskState } from '@contract'
import { i18n } from '@/shared/i18n/i18n.ts'
import StateMark from './StateMark.vue'

const shown = (state: string): string =>
  mount(StateMark, { props: { state: state as TaskState, name: true }, global: { plugins: [i18n] } }).text()

it.each(['<b>WEIRD', 'constructor'])('shows the state %s, which only a stranger can have written, as it is', (state) =>
  expect(shown(state)).toBe(state)
)

it('has a mark for a state without a name, and names for ours', () => {
  expect(shown('')).toBe('?')
  expect(shown('QUEUED')).toBe('Queued')
})
