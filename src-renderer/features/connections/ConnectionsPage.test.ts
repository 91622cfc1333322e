import { expect, it } from 'vitest'
import { mountPage } from '@/testing/mount-page.ts'
import { makeScene } from '@/testing/scenes.ts'
import { withForeignTable } from '@/testing/foreign.ts'
import ConnectionsPage from './ConnectionsPage.vue'

it('tells connections of one server apart by their database, and the table of a profile', async () => {
  const scene = withForeignTable(makeScene('healthy', 1_770_000_000_000), 'clinic-main')
  const page = await mountPage(ConnectionsPage, scene, '/connections', () => 1_770_000_000_000)
  const { mysql } = scene.connections.find(({ id }) => id === 'clinic-main')!
  expect(page.wrapper.find('tbody').text()).toContain(`${mysql!.host}:${mysql!.port}/${mysql!.database}/mail_jobs`)
  page.wrapper.unmount()
})
