import { expect, it } from 'vitest'
import { openGaugePage, type GaugeFamily, type GaugeSample } from './gauge-page.ts'

const families: GaugeFamily[] = [
  { name: 'taskdeck_depth', help: 'Tasks.', labels: ['connection', 'type'] },
  { name: 'taskdeck_age_seconds', help: 'Age.', labels: ['connection'] }
]

const rows = (text: string): string[] => text.split('\n').filter((row) => row !== '' && !row.startsWith('#'))

it('shows what is known at the scrape and nothing that was known before', async () => {
  let known: GaugeSample[] = [{ name: 'taskdeck_depth', labels: { connection: 'a', type: 'mail' }, value: 3 }]
  const page = openGaugePage(families, () => known)
  expect(rows(await page.text())).toEqual(['taskdeck_depth{connection="a",type="mail"} 3'])
  known = [{ name: 'taskdeck_age_seconds', labels: { connection: 'a' }, value: 0.5 }]
  expect(rows(await page.text())).toEqual(['taskdeck_age_seconds{connection="a"} 0.5'])
  known = []
  expect(rows(await page.text())).toEqual([])
})

it('names every family with its help and type, also while it has no sample', async () => {
  const text = await openGaugePage(families, () => []).text()
  for (const { name, help } of families) expect(text).toContain(`# HELP ${name} ${help}\n# TYPE ${name} gauge\n`)
})

it('keeps names that are made to break out of their place inside their label', async () => {
  const type = 'x"} 9\ntaskdeck_depth{connection="b",type="\\'
  const text = await openGaugePage(families, () => [
    { name: 'taskdeck_depth', labels: { connection: 'a', type }, value: 1 }
  ]).text()
  expect(rows(text)).toEqual([
    String.raw`taskdeck_depth{connection="a",type="x\"} 9\ntaskdeck_depth{connection=\"b\",type=\"\\"} 1`
  ])
})
