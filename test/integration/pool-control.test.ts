import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { systemClock, type NewTaskInput } from '../../src-main/kernel/index.ts'
import { createWorker, type WorkerHooks } from '../../src-main/queue/pool/index.ts'
import { MemoryStore } from './pool-support/memory-store.ts'
import { startWorker, temporaryDir } from './pool-support/start-worker.ts'

const task = (type: string, payload: object = {}, more: Partial<NewTaskInput> = {}): NewTaskInput => ({
  type,
  payload: JSON.stringify(payload),
  maxAttempts: 1,
  ...more
})

describe('a worker that another process asks', () => {
  it('to be quiet claims nothing more, finishes what runs, and goes on when the request is taken back', async () => {
    const { store, worker } = await startWorker({ slots: 2, leaseMs: 1_000 })
    const gate = join(temporaryDir(), 'gate')
    const [running = ''] = store.submit(task('gated', { file: gate }))
    await store.untilState(running, 'RUNNING')
    store.request = 'QUIET'
    await store.until(() => store.reports.at(-1)?.status === 'quiet')
    expect(worker.status()).toMatchObject({ status: 'quiet', running: 1 })
    const claims = store.claims.length
    const [waiting = ''] = store.submit(task('sleep', { ms: 0 }))
    worker.nudge()
    writeFileSync(gate, '')
    await store.untilState(running, 'SUCCESS')
    const reports = store.reports.length
    await store.until(() => store.reports.length > reports + 1)
    expect([store.claims.length, store.row(waiting).state]).toEqual([claims, 'QUEUED'])
    store.request = null
    await store.untilState(waiting, 'SUCCESS')
    await store.until(() => store.reports.at(-1)?.status === 'running')
  })

  it('to stop does so with its grace, and says that it is over', async () => {
    const { store, worker } = await startWorker({ slots: 1, leaseMs: 3_000, graceMs: 1_000 })
    const [id = ''] = store.submit(task('deaf'))
    await store.untilState(id, 'RUNNING')
    store.request = 'STOP'
    await worker.finished
    expect(worker.status().status).toBe('stopped')
    expect(store.row(id)).toMatchObject({ state: 'QUEUED', attemptsUsed: 0 })
    expect(store.reports.at(-1)).toMatchObject({ status: 'stopped', running: 0 })
  })
})

describe('hooks', () => {
  it('are told of each step of an attempt, in order, and of the stop', async () => {
    const told: string[] = []
    const tell = (line: string): void => void told.push(line)
    const hooks: WorkerHooks = {
      onStart: ({ workerId }) => tell(`start ${workerId}`),
      onClaimed: (attempts) => tell(`claimed ${attempts.map(({ type }) => type).join()}`),
      onAttemptStart: ({ type, attempt }) => tell(`begin ${type} ${attempt}`),
      onAttemptEnd: ({ type, state, error }) => tell(`end ${type} ${state} ${error?.code ?? '-'}`),
      onStop: ({ requested }) => tell(`stop ${requested}`)
    }
    const { store, worker } = await startWorker({ slots: 1, hooks })
    const [good = ''] = store.submit(task('sleep', { ms: 0 }))
    await store.untilState(good, 'SUCCESS')
    const [bad = ''] = store.submit(task('throws', { what: 'final' }))
    await store.untilState(bad, 'FAILED')
    await worker.stop()
    expect(told).toEqual([
      'start worker',
      'claimed sleep',
      'begin sleep 1',
      'end sleep SUCCESS -',
      'claimed throws',
      'begin throws 1',
      'end throws FAILED NOT_ALLOWED',
      'stop false'
    ])
  })

  it('are not told of a start that was given up, nor of its stop', async () => {
    const told: string[] = []
    const worker = createWorker({
      store: new MemoryStore().asTaskStore(),
      ...{ clock: systemClock, workerId: 'worker', version: '0.0.0', slots: 1, graceMs: 2_000 },
      handlers: { builtIn: true, dir: null },
      artifactDir: join(temporaryDir(), 'artifacts'),
      hooks: { onStart: () => void told.push('start'), onStop: () => void told.push('stop') }
    })
    const starting = worker.start()
    await worker.stop()
    await starting
    expect([told, worker.status().status]).toEqual([[], 'stopped'])
  })

  it('are told of a lost lease, and that its outcome counts for nothing', async () => {
    const told: string[] = []
    const hooks: WorkerHooks = {
      onLeaseLost: ({ taskId }) => void told.push(`lost ${taskId}`),
      onAttemptEnd: ({ taskId, state }) => void told.push(`end ${taskId} ${state}`)
    }
    const { store, worker } = await startWorker({ slots: 1, leaseMs: 600, hooks })
    const [id = ''] = store.submit(task('deaf'))
    await store.until(() => worker.status().running === 1 && worker.status().queued === 0)
    store.steal(id)
    await store.until(() => worker.status().leases === 0)
    expect(told).toEqual([`lost ${id}`, `end ${id} null`])
  })

  it('that throw, reject or never end change nothing but the log', async () => {
    const bad = (): never => {
      throw new Error('a hook of no use')
    }
    const never = (): Promise<void> => new Promise(() => undefined)
    const hooks = {
      onStart: bad,
      onClaimed: never,
      onAttemptStart: bad,
      onAttemptEnd: () => Promise.reject(new Error('late')),
      onStop: bad
    }
    const { store, worker, lines } = await startWorker({ slots: 2, hooks })
    const ids = store.submit(...Array.from({ length: 20 }, () => task('sleep', { ms: 0 })))
    await store.until(() => ids.every((id) => store.row(id).state === 'SUCCESS'))
    await worker.stop()
    const messages = lines.map(({ message }) => message)
    for (const name of ['onStart', 'onAttemptStart', 'onStop'])
      expect(messages).toContain(`hook ${name}: a hook of no use`)
    expect(messages).toContain('hook onAttemptEnd: late')
  })
})

describe('a log and a listener of the program that embeds a worker', () => {
  const fail = (): void => {
    throw new Error('the disk is full')
  }
  const reject = (() => Promise.reject(new Error('late'))) as () => void
  it.each([
    ['throw', fail],
    ['reject', reject]
  ])('may %s: attempts are settled all the same', async (_how, listener) => {
    const { store, worker } = await startWorker({ slots: 1, onLog: listener, onChange: listener })
    const [bad = ''] = store.submit(task('throws', { what: 'final' }))
    await store.untilState(bad, 'FAILED')
    await worker.stop()
    expect(worker.status()).toMatchObject({ status: 'stopped', leases: 0 })
  })
})

describe('error-classes.json', () => {
  it('decides about errors, is taken again when it changes, and changes nothing while it is broken', async () => {
    const dir = temporaryDir()
    writeFileSync(
      join(dir, 'main.js'),
      `import { defineHandler } from 'taskdeck'
       import { z } from 'zod'
       export default defineHandler({ type: 'busy', description: 'd', payload: z.object({}), example: {},
         execute() { throw Object.assign(new Error('they are busy'), { code: 'E_BUSY' }) } })`
    )
    const file = join(dir, 'error-classes.json')
    // A look at the folder must not meet half a file.
    const write = (text: string): void => {
      writeFileSync(join(dir, 'new'), text)
      renameSync(join(dir, 'new'), file)
    }
    const rule = (more: object): string => JSON.stringify({ rules: [{ when: { code: 'E_BUSY' }, ...more }] })
    write(rule({ class: 'final' }))
    const { store, worker } = await startWorker({ handlers: { builtIn: false, dir } })
    const changed = async (change: () => void): Promise<void> => {
      const before = worker.status().handlers
      change()
      await store.until(() => worker.status().handlers !== before)
    }
    const run = async (): Promise<unknown> => {
      const [id = ''] = store.submit(task('busy'))
      await store.untilState(id, 'FAILED')
      const [settlement] = store.row(id).settlements
      return settlement && 'error' in settlement ? settlement.error : undefined
    }
    expect(await run()).toMatchObject({ code: 'E_BUSY', class: 'final' })
    await changed(() => write(rule({ class: 'resource', code: 'BUSY' })))
    expect(await run()).toMatchObject({ code: 'BUSY', class: 'resource' })
    await changed(() => write('{ "rules": [{ "when": {}, "class": "final" }] }'))
    expect(worker.status().handlers.problems).toMatchObject([{ file, error: { code: 'HANDLER_LOAD_FAILED' } }])
    expect(worker.status().handlers.problems[0]?.error.message).toMatch(/those from before stay.*names no condition/s)
    expect(await run()).toMatchObject({ code: 'BUSY', class: 'resource' })
    await changed(() => rmSync(file))
    expect(worker.status().handlers.problems).toEqual([])
    expect(await run()).toMatchObject({ code: 'E_BUSY', class: 'retryable' })
  })
})

describe('the time of an attempt', () => {
  it('ends with its thread before the lease may pass on, also when nothing listens (FAULTS 20)', async () => {
    const ended: number[] = []
    const hooks: WorkerHooks = { onAttemptEnd: () => void ended.push(performance.now()) }
    const { store, worker } = await startWorker({ slots: 2, leaseMs: 20_000, timeoutGraceMs: 100, hooks })
    const ids = store.submit(task('spin', { ms: 600_000 }, { timeoutMs: 200 }), task('deaf', {}, { timeoutMs: 200 }))
    for (const id of ids) await store.untilState(id, 'FAILED')
    await store.until(() => ended.length === 2)
    for (const id of ids) {
      expect(store.row(id).settlements).toMatchObject([{ error: { code: 'TIMEOUT' } }])
      expect(Math.max(...ended)).toBeLessThan(store.row(id).leaseUntil)
    }
    // Their threads are gone: nothing computes any more, and the slots take others.
    expect(worker.status().leases).toBe(0)
    const [next = ''] = store.submit(task('sleep', { ms: 0 }))
    await store.untilState(next, 'SUCCESS')
  })

  it('is over when its lease is lost: the thread ends, and with one slot the next task runs (FAULTS 22)', async () => {
    const { store, worker } = await startWorker({ slots: 1, leaseMs: 600 })
    const [first = ''] = store.submit(task('spin', { ms: 600_000 }))
    await store.until(() => worker.status().running === 1 && worker.status().queued === 0)
    store.steal(first)
    const [second = ''] = store.submit(task('sleep', { ms: 0 }))
    await store.untilState(second, 'SUCCESS')
    expect(store.row(first)).toMatchObject({ workerId: 'someone-else', settlements: [] })
  })
})
