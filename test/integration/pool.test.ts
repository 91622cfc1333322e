import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { AppError, type NewTaskInput } from '../../src-main/kernel/index.ts'
import { startWorker, temporaryDir } from './pool-support/start-worker.ts'

const task = (type: string, payload: object = {}, more: Partial<NewTaskInput> = {}): NewTaskInput => ({
  type,
  payload: JSON.stringify(payload),
  maxAttempts: 1,
  ...more
})
const noDelay = { kind: 'list' as const, delaysMs: [0] }

describe('handlers that misbehave', () => {
  it('end alone: the attempt fails with a clear code while all others succeed', async () => {
    const { store } = await startWorker({ threadMemoryMb: 96 })
    const codeOf = {
      exit: 'HANDLER_CRASHED',
      crash: 'HANDLER_CRASHED',
      'out-of-memory': 'OUT_OF_MEMORY',
      'map-without-end': 'OUT_OF_MEMORY',
      'big-result': 'RESULT_TOO_LARGE'
    }
    const neighbours = store.submit(...Array.from({ length: 3 }, () => task('sleep', { ms: 500 })))
    const bad = Object.keys(codeOf).map((type) => store.submit(task(type))[0] ?? '')
    const after = store.submit(...Array.from({ length: 20 }, () => task('sleep', { ms: 0 })))
    for (const [index, code] of Object.values(codeOf).entries()) {
      const id = bad[index] ?? ''
      await store.untilState(id, 'FAILED')
      expect(store.row(id).settlements).toMatchObject([{ outcome: 'FAILED', error: { code } }])
    }
    for (const id of [...neighbours, ...after]) {
      await store.untilState(id, 'SUCCESS')
      expect(store.row(id).attempt).toBe(1)
    }
  }, 180_000) // Each of them costs a thread, and a thread takes seconds to start on a busy machine.

  it('after they returned keep their success and hurt nobody', async () => {
    const { store, lines } = await startWorker({ slots: 1 })
    const [late = '', next = ''] = store.submit(task('throw-late', { ms: 30 }), task('sleep', { ms: 300 }))
    await store.untilState(next, 'SUCCESS')
    expect(store.row(late).state).toBe('SUCCESS')
    expect(store.row(next).attempt).toBe(1)
    expect(lines.some(({ message }) => message.includes('after the return'))).toBe(true)
  })

  it('in what they throw, log or look for, do no harm (FAULTS 46)', async () => {
    process.env['TASKDECK_CONNECTION'] = 'mysql://someone:canary@host/db'
    onTestFinished(() => void delete process.env['TASKDECK_CONNECTION'])
    const { store } = await startWorker({ slots: 1 })
    const odd = ['final', 'string', 'huge', 'getter', 'undefined', 'http-timeout']
    const thrown = store.submit(...odd.map((what) => task('throws', { what })))
    const [chatty = '', environment = ''] = store.submit(task('chatty'), task('environment'))
    for (const id of thrown) {
      await store.untilState(id, 'FAILED')
      const [settlement] = store.row(id).settlements
      const message = settlement && 'error' in settlement ? settlement.error.message : ''
      expect(message).not.toBe('')
      expect(Buffer.byteLength(message)).toBeLessThanOrEqual(4096)
    }
    const stack = store.lines.find(({ fence }) => fence.taskId === thrown[odd.indexOf('http-timeout')])?.message
    expect(stack).toMatch(/^Error: gone\n.*pool-handlers\/faults\.js/)
    expect(stack).not.toMatch(/node:internal|src-main\/queue\/pool\/thread/)
    await store.untilState(chatty, 'SUCCESS')
    const kept = store.lines.filter(({ fence }) => fence.taskId === chatty)
    expect(kept.length).toBeGreaterThan(0)
    expect(kept.length).toBeLessThan(20_000)
    await store.untilState(environment, 'SUCCESS')
    expect(store.row(environment).settlements).toMatchObject([{ result: '{"env":[],"argv":[]}' }])
  })
})

describe('payloads that are not usable', () => {
  it('fail at once and for good, and the next task runs (FAULTS 47)', async () => {
    const { store } = await startWorker({ slots: 1, handlers: { builtIn: true, dir: null } })
    const deep = `${'['.repeat(10_000)}${']'.repeat(10_000)}`
    const payloads = ['{bad', '', 'null', '[]', '{"ms":"soon"}', deep, '{"ms":-1}', '{"password":"hunter2" oops']
    const bad = store.submit(...payloads.map((payload) => ({ type: 'sleep', payload, maxAttempts: 5 })))
    const [good = ''] = store.submit(task('sleep', { ms: 0 }))
    await store.untilState(good, 'SUCCESS')
    for (const id of bad) {
      expect(store.row(id)).toMatchObject({ state: 'FAILED', attempt: 1 })
      expect(store.row(id).settlements).toMatchObject([{ error: { code: 'INVALID_PAYLOAD', class: 'final' } }])
    }
    expect(JSON.stringify(bad.map((id) => store.row(id).settlements))).not.toContain('hunter2')
  })
})

describe('leases', () => {
  it('outlive a handler that computes for three of them without yielding (FAULTS 16, 23)', async () => {
    const { store } = await startWorker({ slots: 2, leaseMs: 1_000 })
    const [id = ''] = store.submit(task('spin', { ms: 3_100 }))
    await store.untilState(id, 'SUCCESS')
    expect(store.row(id)).toMatchObject({ attempt: 1 })
    expect(store.row(id).settlements).toMatchObject([{ outcome: 'SUCCESS', result: '"spun"' }])
    expect(store.renewals).toBeGreaterThanOrEqual(3)
  })

  it('are never more than the slots, whatever the handlers do (FAULTS 29)', async () => {
    const { store } = await startWorker({ slots: 3 })
    const ids = store.submit(...Array.from({ length: 60 }, (_, i) => task('sleep', { ms: i % 7 })))
    await store.until(() => ids.every((id) => store.row(id).state === 'SUCCESS'))
    expect(store.mostLeases).toBeLessThanOrEqual(3)
    expect(store.claims.every(({ limit }) => limit >= 1 && limit <= 3)).toBe(true)
  })

  it('are renewed whatever becomes of the reports, which are for the eye only', async () => {
    const { store } = await startWorker({ slots: 1, leaseMs: 900 })
    // As while someone else holds a lock on the rows of workers.
    store.reportWorker = () => new Promise(() => undefined)
    const [id = ''] = store.submit(task('sleep', { ms: 2_700 }))
    await store.untilState(id, 'SUCCESS')
    expect(store.row(id)).toMatchObject({ attempt: 1 })
  })

  it('that are lost stop their handler at once and settle nothing', async () => {
    // Long enough that a busy machine lets the polite handler write its note before its thread is ended.
    const { store, worker } = await startWorker({ slots: 2, leaseMs: 2_000 })
    const notes = join(temporaryDir(), 'notes')
    const [polite = '', deaf = ''] = store.submit(task('polite', { file: notes }), task('deaf'))
    await store.until(() => worker.status().running === 2 && worker.status().queued === 0)
    await store.until(() => readOr(notes, '').includes('started'))
    store.steal(polite)
    store.steal(deaf)
    await store.until(() => worker.status().leases === 0)
    expect(readFileSync(notes, 'utf8')).toBe('started\nlease-lost\n')
    for (const id of [polite, deaf]) expect(store.row(id)).toMatchObject({ workerId: 'someone-else', settlements: [] })
    const [next = ''] = store.submit(task('sleep', { ms: 0 }))
    await store.untilState(next, 'SUCCESS')
  })

  it('that cannot be renewed stop their handlers before they run out (FAULTS 24)', async () => {
    const { store, worker } = await startWorker({ slots: 1, leaseMs: 3_000 })
    const notes = join(temporaryDir(), 'notes')
    const [id = ''] = store.submit(task('polite', { file: notes }))
    await store.until(() => readOr(notes, '').includes('started'))
    for (const method of ['renew', 'claim'] as const) {
      store.failing.set(method, new AppError('CONNECTION_LOST', 'operational', 'away'))
    }
    await store.until(() => readOr(notes, '').includes('lease-lost'))
    // When it was written, not when this test came to look.
    expect(statSync(notes).mtimeMs - performance.timeOrigin).toBeLessThan(store.row(id).leaseUntil)
    expect(worker.status().database).toBe('CONNECTION_LOST')
    store.failing.clear()
    store.row(id).state = 'QUEUED'
    await store.untilState(id, 'RUNNING')
  })
})

describe('timeouts and cancelling', () => {
  it('ends a handler over its timeout, also one that does not listen', async () => {
    const { store } = await startWorker()
    const notes = join(temporaryDir(), 'notes')
    const ids = store.submit(
      task('deaf', {}, { timeoutMs: 300 }),
      task('spin', { ms: 60_000 }, { timeoutMs: 300 }),
      task('polite', { file: notes }, { timeoutMs: 300 })
    )
    for (const id of ids) {
      await store.untilState(id, 'FAILED')
      expect(store.row(id).settlements).toMatchObject([{ error: { code: 'TIMEOUT' } }])
    }
    expect(readFileSync(notes, 'utf8')).toBe('started\ntimeout\n')
  })

  it('counts the timeout from when the handler begins, not from the claim', async () => {
    const { store } = await startWorker({ slots: 8, timeoutGraceMs: 1_000 })
    // Claimed together; their threads start two by two or so, each for longer than that.
    const ids = store.submit(...Array.from({ length: 8 }, () => task('sleep', { ms: 0 }, { timeoutMs: 20 })))
    await store.until(() => ids.every((id) => store.row(id).settlements.length > 0))
    expect(ids.map((id) => store.row(id).state)).toEqual(ids.map(() => 'SUCCESS'))
    expect(store.claims).toContainEqual({ limit: 8, got: 8 })
  })

  it('cancels running tasks, also those that do not listen or never yield', async () => {
    const { store, worker } = await startWorker({ leaseMs: 1_500 })
    const notes = join(temporaryDir(), 'notes')
    const ids = store.submit(task('polite', { file: notes }), task('deaf'), task('cpu', { ms: 60_000 }))
    await store.until(() => worker.status().running === 3 && readOr(notes, '').includes('started'))
    for (const id of ids) store.row(id).state = 'CANCEL_REQUESTED'
    for (const id of ids) {
      await store.untilState(id, 'CANCELLED')
      expect(store.row(id).settlements).toMatchObject([{ outcome: 'CANCELLED' }])
    }
    expect(readFileSync(notes, 'utf8')).toBe('started\ncancelled\n')
  })
})

describe('a database that fails', () => {
  const away = new AppError('CONNECTION_LOST', 'operational', 'away')

  it('does not turn a finished handler into a failed attempt', async () => {
    const { store, worker } = await startWorker()
    store.failing.set('settle', away)
    const [id = ''] = store.submit(task('sleep', { ms: 0 }))
    // Nothing else fails, and it lasts until a write succeeds.
    await store.until(() => worker.status().database === 'CONNECTION_LOST')
    expect(store.row(id).state).toBe('RUNNING')
    store.failing.clear()
    await store.untilState(id, 'SUCCESS')
    expect(store.row(id)).toMatchObject({ attempt: 1 })
    expect(store.row(id).settlements).toHaveLength(1)
  })

  it('does not end the worker: it says so and goes on by itself', async () => {
    const { store, worker, lines } = await startWorker({ leaseMs: 2_000 })
    for (const method of ['claim', 'renew', 'reportWorker', 'recover'] as const) store.failing.set(method, away)
    await store.until(() => worker.status().database === 'CONNECTION_LOST')
    store.failing.clear()
    const [id = ''] = store.submit(task('sleep', { ms: 0 }))
    await store.untilState(id, 'SUCCESS')
    await store.until(() => worker.status().database === 'ok')
    expect(lines.map(({ message }) => message)).toContain('database: back')
  })
})

describe('stopping', () => {
  it('lets what runs finish, hands back the rest, and claims nothing more', async () => {
    const { store, worker } = await startWorker({ slots: 3, graceMs: 3_000 })
    const dir = temporaryDir()
    const gate = join(dir, 'gate')
    const notes = join(dir, 'notes')
    const [quick = '', deaf = '', polite = ''] = store.submit(
      task('gated', { file: gate }),
      task('deaf'),
      task('polite', { file: notes })
    )
    await store.until(() => worker.status().running === 3)
    await store.until(() => readOr(notes, '').includes('started'))
    const waiting = store.submit(task('sleep', { ms: 0 }))
    const stopped = [worker.stop(), worker.stop()]
    writeFileSync(gate, '')
    await Promise.all(stopped)
    expect(store.row(quick).state).toBe('SUCCESS')
    for (const id of [deaf, polite]) {
      expect(store.row(id)).toMatchObject({ state: 'QUEUED', attemptsUsed: 0 })
      expect(store.row(id).settlements).toMatchObject([{ outcome: 'HANDED_BACK' }])
    }
    expect(store.row(waiting[0] ?? '').attempt).toBe(0)
    expect(worker.status()).toMatchObject({ status: 'stopped', threads: 0, leases: 0 })
    const claims = store.claims.length
    await worker.start() // a stopped worker stays stopped
    expect(store.claims).toHaveLength(claims)
    expect(store.reports.at(-1)).toMatchObject({ status: 'stopped', running: 0 })
  })

  it('takes no longer than its grace while the database is away', async () => {
    const { store, worker } = await startWorker({ slots: 1, graceMs: 800, leaseMs: 30_000 })
    const [id = ''] = store.submit(task('deaf'))
    await store.untilState(id, 'RUNNING')
    for (const method of ['claim', 'renew', 'settle', 'reportWorker', 'saveProgress', 'appendLog'] as const) {
      store.failing.set(method, new AppError('CONNECTION_LOST', 'operational', 'away'))
    }
    const startedAt = performance.now()
    await worker.stop()
    // Far from the lease that it cannot hand back, and from the database that does not come back.
    expect(performance.now() - startedAt).toBeLessThan(15_000)
    expect(worker.status().status).toBe('stopped')
  })
})

describe('what handlers report', () => {
  it('reaches the store: lines, progress, checkpoint, files, result', async () => {
    const { store, dir } = await startWorker({ slots: 1 })
    const [id = ''] = store.submit(task('notes', {}, { maxAttempts: 2, retryPolicy: noDelay }))
    await store.untilState(id, 'SUCCESS')
    const [first, second] = store.row(id).settlements
    expect(first).toMatchObject({ outcome: 'RETRY', error: { message: 'once more' } })
    const result = { before: { step: 1 }, key: `task-${id}`, attempt: 2 }
    expect(second).toMatchObject({
      outcome: 'SUCCESS',
      result: JSON.stringify(result),
      progress: { total: 10, processed: 4, succeeded: 3, failed: 1, skipped: 0 }
    })
    const [file] = second?.artifacts ?? []
    expect(file).toMatchObject({ name: '_.._etc_pass wd_.txt', contentType: 'text/plain', bytes: 7 })
    expect(file?.path.startsWith(join(dir, 'artifacts', id, '2'))).toBe(true)
    expect(readFileSync(file?.path ?? '', 'utf8')).toBe('content')
    const own = store.lines.filter(({ fence }) => fence.taskId === id && fence.attempt === 2)
    expect(own.map(({ level, message }) => [level, message])).toEqual([
      ['info', 'hello'],
      ['warn', 'careful']
    ])
  })
})

describe('many small tasks', () => {
  it('all run, once each', async () => {
    const { store, worker } = await startWorker({ slots: 50 })
    const ids = store.submit(...Array.from({ length: 1_000 }, () => task('sleep', { ms: 0 })))
    worker.nudge()
    await store.until(() => ids.every((id) => store.row(id).state === 'SUCCESS'))
    for (const id of ids) expect(store.row(id)).toMatchObject({ attempt: 1 })
    expect(store.mostLeases).toBeLessThanOrEqual(50)
    expect(worker.status().claimLatency).not.toBeNull()
  })

  it('go on through a change of the number of slots', async () => {
    const { store, worker } = await startWorker({ slots: 8 })
    const gate = join(temporaryDir(), 'gate')
    const gated = store.submit(...Array.from({ length: 8 }, () => task('gated', { file: gate })))
    await store.until(() => worker.status().threads === 8)
    const claims = store.claims.length
    worker.resize(2)
    const ids = store.submit(...Array.from({ length: 50 }, (_, i) => task('sleep', { ms: i % 5 })))
    writeFileSync(gate, '')
    await store.until(() => [...gated, ...ids].every((id) => store.row(id).state === 'SUCCESS'))
    await store.until(() => worker.status().threads <= 2)
    const later = store.claims.slice(claims)
    expect(later.length).toBeGreaterThan(0)
    expect(later.every(({ limit }) => limit <= 2)).toBe(true)
  })
})

function readOr(file: string, otherwise: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return otherwise
  }
}
