import { expect, it, onTestFinished } from 'vitest'
import { systemClock } from '../../kernel/index.ts'
import type { RowSink } from '../row-sink.ts'
import { openSqliteRowSink } from './row-sink.ts'
import { emptyQueue } from './test-file.fixture.ts'

async function openSink(file: string): Promise<RowSink> {
  const sink = await openSqliteRowSink({ file, clock: systemClock })
  onTestFinished(() => sink.close())
  return sink
}

const rows = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, i) => ({ rowNumber: from + i, data: `{"n":${from + i}}` }))

it('keeps each row of an import once, also when two threads bring the same batch', async () => {
  const file = await emptyQueue()
  const [one, two] = [await openSink(file), await openSink(file)]
  expect(await one.insert('a', rows(1, 100))).toBe(100)
  const added = await Promise.all([one.insert('a', rows(51, 150)), two.insert('a', rows(51, 150))])
  expect(added[0] + added[1]).toBe(50)
  expect(await two.count('a')).toBe(150)
})

it('keeps imports apart', async () => {
  const sink = await openSink(await emptyQueue())
  await sink.insert('a', rows(1, 3))
  expect(await sink.insert('A', rows(1, 2))).toBe(2)
  expect([await sink.count('a'), await sink.count('A'), await sink.count('b')]).toEqual([3, 2, 0])
})

it('does nothing for no rows', async () => {
  const sink = await openSink(await emptyQueue())
  expect(await sink.insert('a', [])).toBe(0)
})
