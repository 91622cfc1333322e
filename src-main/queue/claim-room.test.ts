import { describe, expect, it } from 'vitest'
import { policy, type PolicyInput } from '../kernel/index.ts'
import { ClaimRoom, rotated, takeTurns, Turns } from './claim-room.ts'
import { EffectivePolicies } from './effective-policy.ts'

const roomUnder = (...inputs: PolicyInput[]): ClaimRoom =>
  new ClaimRoom(new EffectivePolicies(inputs.map((input) => policy.parse(input))))

describe('ClaimRoom', () => {
  it('has no bounds without limits', () => {
    const room = roomUnder()
    expect([room.ofQueue(), room.ofType('t'), room.ofOwner('t', 'o')]).toEqual([Infinity, Infinity, Infinity])
  })

  it('counts what is leased and what this claim took against queue, type and owner', () => {
    const room = roomUnder(
      { scope: 'QUEUE', name: '', maxRunning: 10 },
      { scope: 'TYPE', name: 't', maxRunning: 6 },
      { scope: 'OWNER', name: '*', maxRunning: 2 }
    )
    room.admitOwner('o')
    room.count([
      { type: 't', owner: 'o', count: 1 },
      { type: 't', owner: 'p', count: 2 },
      { type: 'u', owner: 'p', count: 3 }
    ])
    expect([room.ofQueue(), room.ofType('t'), room.ofType('u'), room.ofOwner('t', 'o')]).toEqual([4, 3, 4, 1])
    room.take('t', 'o')
    expect([room.ofQueue(), room.ofType('t'), room.ofType('u'), room.ofOwner('u', 'o')]).toEqual([3, 2, 3, 0])
    room.count([{ type: 't', owner: 'o', count: 0 }])
    expect([room.ofQueue(), room.ofType('t'), room.ofOwner('t', 'o')]).toEqual([9, 5, 1])
  })

  it('takes nothing of a limited owner before it is admitted, of a closed type, or of what is not enabled', () => {
    const room = roomUnder(
      { scope: 'OWNER', name: 'o', maxRunning: 2 },
      { scope: 'OWNER', name: 'off', enabled: false },
      { scope: 'TYPE', name: 'off', enabled: false }
    )
    expect([room.ofOwner('t', 'o'), room.likelyOfOwner('o')]).toEqual([0, 2])
    room.admitOwner('o')
    expect(room.ofOwner('t', 'o')).toBe(2)
    room.closeType('t')
    expect([room.ofType('t'), room.ofOwner('t', 'o')]).toEqual([0, 0])
    expect([room.ofType('off'), room.ofOwner('u', 'off')]).toEqual([0, 0])
    expect(roomUnder({ scope: 'QUEUE', name: '', enabled: false }).ofType('t')).toBe(0)
  })

  it('takes no more than the rate has room for', () => {
    const room = roomUnder({ scope: 'TYPE', name: 't', rate: { count: 5, periodMs: 1_000 } })
    room.limitRate('t', 2)
    room.take('t', 'o')
    expect(room.ofType('t')).toBe(1)
    expect(room.takenOf('t')).toBe(1)
  })

  describe('says the end of which tasks makes room', () => {
    const all = ['t', 'u', 'v']

    it('of none while there is room, under a rate, or for what is not enabled', () => {
      const room = roomUnder(
        { scope: 'TYPE', name: 't', rate: { count: 5, periodMs: 1_000 } },
        { scope: 'TYPE', name: 'u', enabled: false, maxRunning: 0 },
        { scope: 'TYPE', name: 'v', maxRunning: 2 }
      )
      room.limitRate('t', 0)
      room.count([{ type: 'v', owner: 'o', count: 1 }])
      expect(room.heldBackBy(all, all).types).toEqual([])
    })

    it('of a type at its limit that is due, with what this claim took', () => {
      const room = roomUnder({ scope: 'TYPE', name: '*', maxRunning: 2 })
      room.count([{ type: 't', owner: 'o', count: 2 }])
      room.take('u', 'o')
      expect(room.heldBackBy(all, all).types).toEqual(['t'])
      room.take('u', 'o')
      expect(room.heldBackBy(all, all).types).toEqual(['t', 'u'])
      expect(room.heldBackBy(['u'], all).types).toEqual(['u'])
    })

    it('of a type that another claimer is just taking', () => {
      const room = roomUnder({ scope: 'TYPE', name: 't', maxRunning: 2 })
      room.closeType('t')
      expect(room.heldBackBy(all, all)).toEqual({ types: ['t'], isBusy: true })
    })

    it('of all types when the queue or an owner is at its limit', () => {
      const queue = roomUnder({ scope: 'QUEUE', name: '', maxRunning: 1 })
      queue.take('u', '')
      expect(queue.heldBackBy(['t'], all).types).toEqual(all)
      expect(queue.heldBackBy([], all).types).toEqual([])
      const owners = roomUnder({ scope: 'OWNER', name: '*', maxRunning: 2 })
      owners.count([{ type: 'u', owner: 'o', count: 1 }])
      expect(owners.heldBackBy(['t'], all).types).toEqual([])
      owners.take('t', 'o')
      expect(owners.heldBackBy(['t'], all).types).toEqual(all)
    })
  })
})

describe('turns', () => {
  it('give each its share before anyone gets another', () => {
    expect(takeTurns([9, 9, 9], 2)).toEqual([1, 1, 0])
    expect(takeTurns([9, 9, 9], 7)).toEqual([3, 2, 2])
    expect(takeTurns([9, 1, 0], 7)).toEqual([6, 1, 0])
    expect(takeTurns([1, 1], 7)).toEqual([1, 1])
    expect(takeTurns([Infinity, 2], 7)).toEqual([5, 2])
    expect(takeTurns([], 7)).toEqual([])
  })

  it('go on after the last one served, of each priority and type', () => {
    const turns = new Turns()
    turns.leave(5, 't', 'b')
    expect([turns.after(5, 't'), turns.after(4, 't'), turns.after(5, 'u')]).toEqual(['b', undefined, undefined])
    expect(rotated(['a', 'b', 'c'], 'b')).toEqual(['c', 'a', 'b'])
    expect(rotated(['a', 'c'], 'b')).toEqual(['c', 'a'])
    expect(rotated(['a', 'c'], undefined)).toEqual(['a', 'c'])
  })

  it('go on in the order of the database, which puts an emoji behind a full-width letter', () => {
    expect(rotated(['😀', 'a', 'ｘ'], '😀')).toEqual(['a', 'ｘ', '😀'])
    expect(rotated(['a', '😀'], 'ｘ')).toEqual(['😀', 'a'])
  })
})
