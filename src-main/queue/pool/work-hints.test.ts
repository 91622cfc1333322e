import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { deadLetterFilter, newTask, systemClock, type NewTaskInput } from '../../kernel/index.ts'
import type { ActionResult, Recovered, SettleResult, SubmitResult, TaskStore } from '../task-store.ts'
import { HintListener, hintText, loopback } from './hint-listener.ts'
import { withHints } from './work-hints.ts'

const released: Recovered = { taskId: '1', type: 't', reason: 'DEPENDENCY', state: 'QUEUED' }
const fence = { taskId: '1', workerId: 'w', attempt: 1 }
const task = (input: Partial<NewTaskInput> = {}) => newTask.parse({ type: 't', payload: '{}', ...input })

describe('withHints', () => {
  let listener: HintListener
  let hinted: PromiseWithResolvers<void>
  let hints: number
  let looks: number
  let strangePorts: number[]
  let answer: { status: 'created' | 'exists'; taskId: string }
  let action: ActionResult
  let settled: SettleResult[]
  let store: TaskStore

  beforeEach(async () => {
    hints = 0
    looks = 0
    strangePorts = []
    hinted = Promise.withResolvers()
    answer = { status: 'created', taskId: '1' }
    action = { status: 'done', from: 'PAUSED', to: 'QUEUED' }
    settled = []
    listener = new HintListener({
      onHint: () => {
        hints++
        hinted.resolve()
      },
      onProblem: () => undefined
    })
    await listener.start()
    const inner = {
      kind: 'sqlite',
      hintPorts: () => {
        looks++
        return Promise.resolve(listener.port === null ? [] : [...strangePorts, listener.port])
      },
      submit: (): Promise<SubmitResult[]> => Promise.resolve([answer]),
      act: () => Promise.resolve(action),
      settle: () => Promise.resolve(settled),
      recover: (): Promise<Recovered[]> => Promise.resolve([released]),
      replay: () => Promise.resolve({ changed: 2, skipped: 0, nextCursor: null }),
      resolveDeadLetter: () => Promise.resolve(action),
      setPolicy: () => Promise.resolve(),
      runSchedules: () => Promise.resolve({ submitted: ['t'], nextInMs: null }),
      get(): Promise<undefined> {
        if (this !== inner) throw new Error('not its own this')
        return Promise.resolve(undefined)
      },
      close: () => Promise.resolve()
    }
    store = withHints(inner as unknown as TaskStore, { clock: systemClock })
  })
  afterEach(async () => {
    listener.stop()
    await store.close()
  })

  it('passes over what is no port, and reaches the workers behind it', async () => {
    strangePorts = [0, -1, 65_536, 1.5, Number.NaN]
    await store.submit([task()])
    await hinted.promise
    expect(hints).toBe(1)
  })

  /** Whatever was told before has arrived once this has: datagrams of one socket keep their order on the loopback. */
  async function countAfter(work: () => Promise<unknown>): Promise<number> {
    await work()
    answer = { status: 'created', taskId: '2' }
    action = { status: 'refused', state: 'RUNNING' }
    await store.submit([task()])
    await hinted.promise
    return hints
  }

  it.each([
    ['submitted', () => store.submit([task()])],
    ['released or resumed', () => store.act('1', 'resume', 'ada')],
    ['replayed', () => store.resolveDeadLetter('1', 'replay', 'ada')],
    [
      'replayed with others',
      () => store.replay(deadLetterFilter.parse({}), { upToId: '9', limit: 10, cursor: null, by: 'ada' })
    ],
    ['kept from them by a policy', () => store.setPolicy({ scope: 'TYPE', name: 't' })],
    ['submitted by a schedule', () => store.runSchedules()],
    [
      'handed back',
      () => {
        settled = [{ fence, state: 'QUEUED' }]
        return store.settle([])
      }
    ],
    [
      'waiting for another one that ended',
      () => {
        settled = [{ fence, state: 'SUCCESS', dependents: [released] }]
        return store.settle([])
      }
    ],
    [
      'waiting for another one that was cancelled',
      () => {
        action = { status: 'done', from: 'QUEUED', to: 'CANCELLED', dependents: [released] }
        return store.act('1', 'cancel', 'ada')
      }
    ],
    ['released by recovery', () => store.recover(10)]
  ])('tells workers of a task that was %s', async (_what, work) => {
    await work()
    await hinted.promise
    expect(hints).toBe(1)
  })

  it.each([
    [
      'is there already',
      () => {
        answer = { status: 'exists', taskId: '1' }
        return store.submit([task()])
      }
    ],
    ['is held', () => store.submit([task({ held: true })])],
    ['is due later', () => store.submit([task({ runAt: 4_000_000_000_000 })])],
    [
      'was cancelled',
      () => {
        action = { status: 'done', from: 'QUEUED', to: 'CANCELLED' }
        return store.act('1', 'cancel', 'ada')
      }
    ],
    [
      'ended, and nothing waited for it',
      () => {
        settled = [{ fence, state: 'SUCCESS' }]
        return store.settle([])
      }
    ],
    [
      'failed with those that waited for it',
      () => {
        settled = [{ fence, state: 'FAILED', dependents: [{ ...released, state: 'FAILED' }] }]
        return store.settle([])
      }
    ],
    [
      'was cancelled, with those that waited for it',
      () => {
        action = { status: 'done', from: 'QUEUED', to: 'CANCELLED', dependents: [{ ...released, state: 'FAILED' }] }
        return store.act('1', 'cancel', 'ada')
      }
    ]
  ])('tells nobody of a task that %s', async (_what, work) => {
    expect(await countAfter(work)).toBe(1)
  })

  it('looks for the workers once for many tasks, and gathers hints', async () => {
    for (let n = 0; n < 50; n++) await store.submit([task()])
    await hinted.promise
    expect(looks).toBe(1)
    expect(hints).toBeLessThan(50)
  })

  it('leaves everything else to the store', async () => {
    expect(store.kind).toBe('sqlite')
    expect(await store.get('1')).toBeUndefined()
  })
})

describe('HintListener', () => {
  it('hears on the loopback address, believes nothing else, and is silent after it was stopped', async () => {
    let heard = 0
    const first = Promise.withResolvers<void>()
    const listener = new HintListener({
      onHint: () => {
        heard++
        first.resolve()
      },
      onProblem: () => undefined
    })
    await listener.start()
    const socket = createSocket('udp4')
    const { port } = listener
    socket.send(Buffer.alloc(60_000), port!, loopback)
    socket.send('taskdeck/hint/2', port!, loopback)
    socket.send(hintText, port!, loopback)
    await first.promise
    expect(heard).toBe(1)
    listener.stop()
    listener.stop()
    expect(listener.port).toBeNull()
    socket.close()
    await once(socket, 'close')
  })
})

describe('HintListener', () => {
  const quiet = { onHint: () => undefined, onProblem: () => undefined }

  it('ends its start when it is stopped meanwhile, and holds no port', async () => {
    const listener = new HintListener(quiet)
    const starting = listener.start()
    listener.stop()
    await starting
    expect(listener.port).toBeNull()
  })

  it('does not begin after it was stopped', async () => {
    const listener = new HintListener(quiet)
    listener.stop()
    await listener.start()
    expect(listener.port).toBeNull()
  })
})
