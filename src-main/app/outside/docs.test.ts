import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { appFamilies } from './app-metrics.ts'

it('docs/outside.md has every metric of the app, with its labels, and no other', () => {
  const page = readFileSync(join(import.meta.dirname, '../../../docs/outside.md'), 'utf8')
  const said = [...page.matchAll(/^\| `(taskdeck_[a-z0-9_]+)`\s*\|([^|]*)\|/gm)].map(([, name = '', labels = '']) => ({
    name,
    labels: [...labels.matchAll(/[a-z]+(?=[,`])/g)].map(([label]) => label).sort()
  }))
  const made = appFamilies.map(({ name, labels }) => ({
    name,
    labels: labels.filter((label) => label !== 'connection').sort()
  }))
  const byName = (a: { name: string }, b: { name: string }): number => (a.name < b.name ? -1 : 1)
  expect(said.sort(byName)).toEqual(made.sort(byName))
})
