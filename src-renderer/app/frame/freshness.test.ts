import { expect, it } from 'vitest'
import { refused } from '@/testing/scenes.ts'
import { freshnessOf } from './freshness.ts'

it('says live, how old, or since when it is offline', () => {
  const lost = { status: 'lost' as const, nextTryAt: 0, failures: 1, problem: refused }
  expect(freshnessOf({ status: 'live', lastReadingAt: 95_000 }, 100_000)).toEqual({ kind: 'live', at: 95_000 })
  expect(freshnessOf({ status: 'live', lastReadingAt: 60_000 }, 100_000)).toEqual({ kind: 'live', at: 60_000 })
  expect(freshnessOf({ status: 'live', lastReadingAt: 50_000 }, 100_000)).toEqual({ kind: 'late', at: 50_000 })
  expect(freshnessOf({ ...lost, since: 7 }, 100_000)).toEqual({ kind: 'offline', at: 7 })
  expect(freshnessOf({ ...lost, since: null }, 100_000)).toEqual({ kind: 'neverRead', at: null })
})
