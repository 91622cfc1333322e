import { describe, expect, it } from 'vitest'
import type { PolicyInput } from '../../src-main/kernel/index.ts'
import type { ClaimedTask } from '../../src-main/queue/task-store.ts'
import { task, type QueueUnderTest } from './queue-under-test.ts'

const owners = (claimed: readonly ClaimedTask[]): string[] => claimed.map(({ owner }) => owner)
/** Their names come before `z`, also as the databases compare them. */
const manyOwners = (count: number): string[] =>
  Array.from({ length: count }, (_, n) => `owner-${String(n).padStart(4, '0')}`)

export function describeOwners(queue: QueueUnderTest): void {
  const set = (policy: PolicyInput): Promise<void> => queue.store.setPolicy(policy)
  const submitMany = (count: number, input: Parameters<typeof task>[0] = {}): Promise<unknown> =>
    queue.store.submit(Array.from({ length: count }, () => task(input)))
  const submitOneEach = (names: readonly string[], input: Parameters<typeof task>[0] = {}): Promise<unknown> =>
    queue.store.submit(names.map((owner) => task({ ...input, owner })))

  describe('turns between owners', () => {
    it('give an owner who comes late a place in the next round, whoever has how many tasks ahead', async () => {
      await set({ scope: 'TYPE', name: 't', fair: true })
      await submitMany(1_000, { owner: 'many' })
      expect(owners(await queue.claim(4))).toEqual(['many', 'many', 'many', 'many'])
      await submitMany(3, { owner: 'few' })
      await submitMany(1, { owner: 'one' })
      expect(owners(await queue.claim(3)).sort()).toEqual(['few', 'many', 'one'])
      expect(owners(await queue.claim(4)).sort()).toEqual(['few', 'few', 'many', 'many'])
    })

    it('go round also when claims take one task each', async () => {
      await set({ scope: 'QUEUE', name: '', fair: true })
      for (const owner of ['a', 'b', 'c']) await submitMany(4, { owner })
      const taken: string[] = []
      for (let n = 0; n < 9; n++) taken.push(...owners(await queue.claim(1)))
      for (const owner of ['a', 'b', 'c']) expect(taken.filter((one) => one === owner)).toHaveLength(3)
      expect(new Set(taken.slice(0, 3)).size).toBe(3)
    })

    it.each<[string, PolicyInput]>([
      ['in turns', { scope: 'TYPE', name: 't', fair: true }],
      ['under limits of owners', { scope: 'OWNER', name: '*', maxRunning: 3 }]
    ])('leave nobody out, whatever characters the names begin with: %s', async (_, policy) => {
      await set(policy)
      const names = ['a', '\t', '\u0001', 'ｘ', '😀', "'", '*', '😀'.repeat(50)]
      for (const owner of names) await submitMany(2, { owner })
      const taken: string[] = []
      for (let n = 0; n < names.length; n++) taken.push(...owners(await queue.claim(1)))
      if (policy.fair) expect(new Set(taken)).toEqual(new Set(names))
      taken.push(...owners(await queue.claim(names.length)))
      for (const owner of names) expect(taken.filter((one) => one === owner)).toHaveLength(2)
    })

    it('come after the priority, and hold limits of owners too', async () => {
      await set({ scope: 'TYPE', name: 't', fair: true })
      await set({ scope: 'OWNER', name: 'a', maxRunning: 1 })
      await submitMany(5, { owner: 'a' })
      await submitMany(5, { owner: 'b' })
      await submitMany(2, { owner: 'b', priority: 0 })
      const claimed = owners(await queue.claim(5))
      expect(claimed.slice(0, 2)).toEqual(['b', 'b'])
      expect(claimed.slice(2).sort()).toEqual(['a', 'b', 'b'])
    })

    it('reach everyone of 300 owners', async () => {
      await set({ scope: 'TYPE', name: 't', fair: true })
      await queue.store.submit(Array.from({ length: 300 }, (_, n) => task({ owner: `owner-${n}` })))
      expect(new Set(owners(await queue.claim(300))).size).toBe(300)
    })
  })

  describe('a due task is claimed behind many owners', () => {
    const inTurns: PolicyInput = { scope: 'TYPE', name: 't', fair: true }
    const underLimits: PolicyInput = { scope: 'OWNER', name: '*', maxRunning: 5 }

    it.each<[string, number, PolicyInput]>([
      ['in turns', 70, inTurns],
      ['in turns', 1_000, inTurns],
      ['under limits of owners', 70, underLimits],
      ['under limits of owners', 1_000, underLimits]
    ])('whose tasks are due later: %s, %i of them', async (_, count, policy) => {
      await set(policy)
      await submitOneEach(manyOwners(count), { runAt: Date.now() + 3_600_000 })
      await queue.submit({ owner: 'z' })
      expect(owners(await queue.claim())).toEqual(['z'])
    })

    it('who are at their limit, also by a store just opened', async () => {
      await set({ scope: 'OWNER', name: '*', maxRunning: 1 })
      const full = manyOwners(700)
      await submitOneEach(full)
      expect(await queue.claim(full.length)).toHaveLength(full.length)
      await submitOneEach(full)
      await queue.submit({ owner: 'z' })
      expect(owners(await queue.claim(1, { store: await queue.open() }))).toEqual(['z'])
    })

    it('who are not enabled', async () => {
      await set({ scope: 'OWNER', name: '*', enabled: false })
      await set({ scope: 'OWNER', name: 'z', enabled: true })
      await submitOneEach(manyOwners(700))
      await queue.submit({ owner: 'z' })
      expect(owners(await queue.claim())).toEqual(['z'])
    })

    it('and those before them still have their turns', async () => {
      await set(inTurns)
      await submitOneEach(manyOwners(1_000), { runAt: Date.now() + 3_600_000 })
      for (const owner of ['a', 'z']) await submitMany(5, { owner })
      const taken: string[] = []
      for (let n = 0; n < 10; n++) taken.push(...owners(await queue.claim()))
      expect(taken.slice(0, 4).sort()).toEqual(['a', 'a', 'z', 'z'])
      expect(taken).toHaveLength(10)
    })
  })
}
