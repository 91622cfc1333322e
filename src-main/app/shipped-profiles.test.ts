import { join } from 'node:path'
import { expect, it } from 'vitest'
import { shippedProfiles } from './shipped-profiles.ts'

it('finds every profile that comes with Taskdeck, by its name', async () => {
  const profiles = await shippedProfiles(join(import.meta.dirname, '../../resources'))
  expect(profiles.map(({ name }) => name)).toEqual([
    'Laravel jobs',
    'thesis_run_task, the queue of the first design article'
  ])
  expect(profiles.every(({ name, text }) => (JSON.parse(text) as { name: string }).name === name)).toBe(true)
})
