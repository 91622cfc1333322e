import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { pageFile, statePage } from '../../scripts/state-machine.mjs'

const root = join(import.meta.dirname, '../..')
const docs = join(root, 'docs')
const read = (file: string): string => readFileSync(join(docs, file), 'utf8')
const pages = readdirSync(docs, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.md'))

it('the page of the states is what the table says: node scripts/state-machine.mjs writes it', async () => {
  expect(readFileSync(pageFile, 'utf8')).toBe(await statePage())
})

describe('docs/delivery.md', () => {
  const text = read('delivery.md').replace(/\s+/g, ' ')
  const shown = [...text.matchAll(/`(test\/[^`]+|src-main\/[^`]+)` › `([^`]+)`/g)].map(([, file = '', name = '']) => ({
    file,
    name
  }))

  it('names a test for its promises', () => {
    expect(shown.length).toBeGreaterThan(30)
    // A reference that is written in another way would not be looked at below.
    expect(shown).toHaveLength(text.split('›').length - 2)
  })

  it.each(shown)('names a test that is there: $file › $name', ({ file, name }) => {
    expect(existsSync(join(root, file)), file).toBe(true)
    expect(readFileSync(join(root, file), 'utf8')).toContain(name)
  })
})

it('docs/metrics.md has every metric and no other', () => {
  const sources = ['queue-metrics', 'worker-page'].map((name) =>
    readFileSync(join(root, `src-main/queue/metrics/${name}.ts`), 'utf8')
  )
  const made = [...sources.join('').matchAll(/(?:counter|gauge|histogram)\(\s*'([a-z_]+)'/g)].map(
    ([, name]) => `taskdeck_${name}`
  )
  const said = [...read('metrics.md').matchAll(/^\| `(taskdeck_[a-z_]+)`/gm)].map(([, name]) => name)
  expect(made.length).toBeGreaterThan(15)
  expect(said.sort()).toEqual(made.sort())
})

it.each(pages)('%s links to files that exist', (page) => {
  const targets = [...read(page).matchAll(/\]\((?!https?:|#)([^)#]+)(?:#[^)]*)?\)/g)].map(([, target = '']) => target)
  const missing = targets.filter((target) => !existsSync(join(docs, dirname(page), target)))
  expect(missing).toEqual([])
})
