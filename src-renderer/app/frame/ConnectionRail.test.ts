import { flushPromises } from '@vue/test-utils'
import { afterEach, expect, it, vi } from 'vitest'
import { h } from 'vue'
import { useAlertsStore } from '@/state/alerts-store.ts'
import { useAppStore } from '@/state/app-store.ts'
import { mountPage, type MountedPage } from '@/testing/mount-page.ts'
import { makeScene } from '@/testing/scenes.ts'
import AppLinkBanner from './AppLinkBanner.vue'
import ConnectionRail from './ConnectionRail.vue'

vi.setConfig({ testTimeout: 20_000 })
const banner = { render: () => h(AppLinkBanner, { since: 0 }) }
let page: MountedPage
afterEach(() => page.wrapper.unmount())

const marks = (): (string | undefined)[] =>
  page.wrapper.findAll('.connections .health').map((one) => one.attributes('aria-label'))

it('calls no connection well while the app itself does not answer', async () => {
  page = await mountPage(ConnectionRail, makeScene('healthy', 0), '/c/clinic-main/overview', () => 0)
  expect(marks()).toContain('well')
  useAppStore().link = { kind: 'gone', since: 0 }
  await flushPromises()
  expect(new Set(marks())).toEqual(new Set(['unknown']))
  expect(page.wrapper.find('.connections a').attributes('title')).toContain('not known now')
})

it('marks a connection while its alerts fire, and counts them at its page until somebody has them', async () => {
  page = await mountPage(ConnectionRail, makeScene('failing', 0), '/c/clinic-main/overview', () => 0)
  const main = () => page.wrapper.findAll('.connections a').find((one) => one.text().includes('clinic-main'))!
  const alerts = () => page.wrapper.find('a[href="/c/clinic-main/alerts"]').text()
  expect(main().find('.health').attributes('aria-label')).toBe('needs a look')
  expect(main().attributes('title')).toContain('3 alerts firing')
  expect(alerts()).toBe('Alerts3')
  await useAlertsStore().acknowledge('clinic-main', 'now', '')
  await flushPromises()
  expect(main().find('.health').attributes('aria-label')).toBe('needs a look')
  expect(alerts()).toBe('Alerts')
})

it('says what to do about an app that is gone, for the shell that it is in', async () => {
  const scene = makeScene('healthy', 0)
  page = await mountPage(banner, scene, '/settings', () => 0)
  expect(page.wrapper.text()).toContain('start it again and open the new address')
  page.wrapper.unmount()
  page = await mountPage(banner, { ...scene, info: { ...scene.info, shell: 'electron' } }, '/settings', () => 0)
  expect(page.wrapper.text()).toContain('quit Taskdeck and start it again')
})
