import { expect, it } from 'vitest'
import { readingAt } from '@/testing/demo-queue.ts'
import { typesByNeed } from './rule-types.ts'

it('offers types that only wait too, the one in need first', () => {
  const scene = { types: [['mail.send', 60, 900]] as const, failingSinceMs: null, workers: 1, silent: 0 }
  const reading = readingAt({ ...scene, gap: null, startedAt: 0 }, 0)
  const depth = [...reading.depth, { type: 'a.later', state: 'QUEUED' as const, count: 3 }]
  const oldest = [...reading.oldest, { type: 'pdf.invoice', taskId: '1', ageMs: 900_000 }]
  expect(typesByNeed({ ...reading, depth, oldest })).toEqual(['pdf.invoice', 'mail.send', 'a.later'])
  expect(typesByNeed(null)).toEqual([])
})
