import { h } from 'vue'
import { afterEach, expect, it, vi } from 'vitest'
import type { TaskView } from '@contract'
import { mountPage, type MountedPage } from '@/testing/mount-page.ts'
import { makeScene } from '@/testing/scenes.ts'
import ArtifactList from './ArtifactList.vue'

vi.setConfig({ testTimeout: 20_000 })
let page: MountedPage
afterEach(() => page.wrapper.unmount())

it('tells a file in another folder of this machine from one on another machine', async () => {
  const file = { attempt: 1, name: 'e.csv', contentType: 'text/csv', bytes: 3, createdAt: 0, expiresAt: 4e12 }
  const task = {
    artifacts: [
      { ...file, id: '1', host: 'here', path: '/srv/other/e.csv' },
      { ...file, id: '2', host: 'there', path: '/srv/e.csv' },
      { ...file, id: '3', host: 'here', path: '/srv/f.csv' }
    ],
    downloadable: ['3'],
    unavailable: { '1': 'outside', '2': 'other-host' }
  } as unknown as TaskView
  const list = { render: () => h(ArtifactList, { task }) }
  page = await mountPage(list, makeScene('healthy', 0), '/c/local/tasks', () => 0)
  expect(page.wrapper.findAll('[data-test=why]').map((one) => one.text())).toEqual([
    'The file is in another folder of this machine: /srv/other/e.csv',
    'The file is on there, not on this machine.'
  ])
  expect(page.wrapper.findAll('button')).toHaveLength(1)
})
