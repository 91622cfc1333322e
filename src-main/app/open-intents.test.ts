import { describe, expect, it } from 'vitest'
import { systemClock } from '../kernel/index.ts'
import { OpenIntents } from './open-intents.ts'

const store = { get: () => Promise.resolve(undefined) }

function setup(answer: () => Promise<number> = () => Promise.resolve(1)) {
  const asked: string[][] = []
  const time = { now: 0 }
  const reconcile = (storeOf: (id: string) => unknown): Promise<number> => {
    asked.push(['a', 'b'].filter((id) => storeOf(id) === store))
    return answer()
  }
  return { asked, time, intents: new OpenIntents({ reconcile }, { ...systemClock, monotonic: () => time.now }) }
}

describe('open intents', () => {
  it('are settled again and again while the app runs, each minute for each connection', async () => {
    const { asked, time, intents } = setup()
    expect(await intents.settle('a', store)).toBe(1)
    expect(await intents.settle('b', store)).toBe(1)
    time.now = 59_999
    expect(await intents.settle('a', store)).toBe(0)
    time.now = 60_000
    expect(await intents.settle('a', store)).toBe(1)
    expect(asked).toEqual([['a'], ['b'], ['a']])
  })

  it('are not looked at twice at once, and again after a failure', async () => {
    let fail: (error: Error) => void = () => undefined
    const { asked, time, intents } = setup(() => new Promise((_resolve, reject) => (fail = reject)))
    const first = intents.settle('a', store)
    time.now = 60_000
    expect(await intents.settle('a', store)).toBe(0)
    fail(new Error('the disk is full'))
    await expect(first).rejects.toThrow('the disk is full')
    void intents.settle('a', store)
    expect(asked).toHaveLength(2)
  })
})
