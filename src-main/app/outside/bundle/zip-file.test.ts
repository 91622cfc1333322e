import { expect, it } from 'vitest'
import { unzip } from './unzip.fixture.ts'
import { zipOf } from './zip-file.ts'

it('an archive gives back what was put in', async () => {
  const entries = [
    { name: 'report.md', bytes: Buffer.from('# Bericht ü\n'.repeat(1_000)) },
    { name: 'empty.txt', bytes: Buffer.alloc(0) },
    { name: 'overview.png', bytes: Buffer.from(Array.from({ length: 5_000 }, (_, n) => (n * 7_919) % 251)) }
  ]
  const archive = await zipOf(entries, Date.UTC(2026, 10, 30, 2, 15, 42))
  expect(archive.length).toBeLessThan(8_000)
  const files = unzip(archive)
  expect([...files.keys()]).toEqual(entries.map(({ name }) => name))
  for (const { name, bytes } of entries) expect(files.get(name)?.equals(bytes)).toBe(true)
})

it('says when its files are from', async () => {
  const archive = Buffer.from(await zipOf([{ name: 'a', bytes: Buffer.from('a') }], Date.UTC(2026, 10, 30, 2, 15, 42)))
  const [time, date] = [archive.readUInt16LE(10), archive.readUInt16LE(12)]
  expect([time >> 11, (time >> 5) & 63, (time & 31) * 2]).toEqual([2, 15, 42])
  expect([(date >> 9) + 1980, (date >> 5) & 15, date & 31]).toEqual([2026, 11, 30])
})
