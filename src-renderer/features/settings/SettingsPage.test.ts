import { flushPromises } from '@vue/test-utils'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { mountPage, type MountedPage } from '@/testing/mount-page.ts'
import { makeScene } from '@/testing/scenes.ts'
import SettingsPage from './SettingsPage.vue'

vi.setConfig({ testTimeout: 30_000 })
let page: MountedPage
beforeEach(async () => {
  const scene = makeScene('healthy', 0)
  const settings = { theme: 'dark', language: 'en', sensitiveKeys: ['salary', 'home address'] } as const
  const info = { ...scene.info, settings: { ...settings, sensitiveKeys: [...settings.sensitiveKeys] } }
  page = await mountPage(SettingsPage, { ...scene, info }, '/settings', () => 0)
})
afterEach(() => page.wrapper.unmount())

const field = () => page.wrapper.find<HTMLInputElement>('input[name=sensitiveKeys]')
const saved = (): unknown[] =>
  page.app.calls.filter(({ path }) => path === 'app.saveSettings').map(({ input }) => input)
/** `setValue` also sends the `change` of a field that is left. */
async function enter(text: string): Promise<void> {
  await field().setValue(text)
  await flushPromises()
}

it('shows the names that are hidden too, and says what is hidden without them', () => {
  expect(field().element.value).toBe('salary, home address')
  expect(field().attributes('aria-label')).toBe('Also hide fields named')
  const help = page.wrapper.find(`#${field().attributes('aria-describedby')}`).text()
  expect(help).toContain('Hidden already')
  expect(help).toContain('phone')
  expect(page.wrapper.text()).toContain('from now on')
})

it('saves what was typed, between commas of either script, and nothing else', async () => {
  await enter(' Salary, 工资，家庭住址、 ,')
  expect(saved()).toEqual([{ sensitiveKeys: ['Salary', '工资', '家庭住址'] }])
  expect(field().element.value).toBe('Salary, 工资, 家庭住址')
  await enter('')
  expect(saved()[1]).toEqual({ sensitiveKeys: [] })
})

it('says what is wrong with names that cannot be used, and saves them only once they can', async () => {
  for (const text of ['x'.repeat(65), 'salary, -', Array.from({ length: 101 }, (_, index) => `n${index}`).join()]) {
    await enter(text)
    expect(page.wrapper.find('[role=alert]').text()).toContain('At most 100 names of at most 64 characters')
  }
  expect(saved()).toEqual([])
  await enter('salary')
  expect(page.wrapper.find('[role=alert]').exists()).toBe(false)
  expect(saved()).toEqual([{ sensitiveKeys: ['salary'] }])
})

it('leaves the names, and what is being typed, alone when something else is chosen', async () => {
  await enter('-')
  await page.wrapper.find('input[type=radio][value=light]').setValue(true)
  await flushPromises()
  expect(saved()).toEqual([{ theme: 'light' }])
  expect(field().element.value).toBe('-')
  expect(page.wrapper.find('[role=alert]').exists()).toBe(true)
})
