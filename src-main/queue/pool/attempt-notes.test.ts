import { beforeEach, describe, expect, it } from 'vitest'
import { AppError, textMask, type Fence } from '../../kernel/index.ts'
import type { LogEntry, ProgressUpdate, TaskStore } from '../task-store.ts'
import { AttemptNotes } from './attempt-notes.ts'
import { DatabaseState } from './database-state.ts'
import { ManualClock } from '../manual-clock.fixture.ts'

const fence: Fence = { taskId: '1', workerId: 'worker', attempt: 1 }
const counts = (processed: number) => ({ total: null, processed, succeeded: 0, failed: 0, skipped: 0 })

describe('AttemptNotes', () => {
  let clock: ManualClock
  let saved: ProgressUpdate[][]
  let lines: LogEntry[]
  let refused: Fence[]
  let failure: AppError | undefined
  /** What a write of lines waits for. */
  let answer: Promise<void>
  let notes: AttemptNotes
  let database: DatabaseState

  beforeEach(() => {
    clock = new ManualClock()
    saved = []
    lines = []
    refused = []
    failure = undefined
    answer = Promise.resolve()
    const store: Pick<TaskStore, 'saveProgress' | 'appendLog'> = {
      saveProgress: async (updates) => {
        await Promise.resolve()
        if (failure) throw failure
        saved.push([...updates])
        return refused
      },
      appendLog: async (entries) => {
        await answer
        if (failure) throw failure
        lines.push(...entries)
      }
    }
    database = new DatabaseState(() => undefined)
    notes = new AttemptNotes({
      store: store as TaskStore,
      clock,
      database,
      maskText: textMask(['salary']),
      onRefused: () => undefined
    })
    notes.start()
  })

  it('writes only the newest progress of an attempt', async () => {
    for (let processed = 1; processed <= 100; processed++) notes.progress(fence, counts(processed))
    await clock.advance(300)
    expect(saved).toHaveLength(1)
    expect(saved[0]).toEqual([{ fence, progress: counts(100), checkpoint: undefined }])
  })

  it('confirms a checkpoint when it is stored, soon', async () => {
    const stored = notes.checkpoint(fence, counts(1), '{"row":1}')
    await clock.advance(5)
    await stored
    expect(saved[0]).toEqual([{ fence, progress: counts(1), checkpoint: '{"row":1}' }])
  })

  it('writes a checkpoint without counts when the handler has told none', async () => {
    const stored = notes.checkpoint(fence, undefined, '{"row":1}')
    await clock.advance(5)
    await stored
    expect(saved[0]).toEqual([{ fence, progress: undefined, checkpoint: '{"row":1}' }])
  })

  it('rejects a checkpoint of an attempt that has lost its lease', async () => {
    refused = [fence]
    const stored = notes.checkpoint(fence, undefined, '1')
    const outcome = expect(stored).rejects.toMatchObject({ code: 'ILLEGAL_TRANSITION' })
    await clock.advance(5)
    await outcome
  })

  it('rejects a checkpoint that could not be written', async () => {
    failure = new AppError('CONNECTION_LOST', 'operational', 'away')
    const outcome = expect(notes.checkpoint(fence, undefined, '1')).rejects.toMatchObject({ code: 'CONNECTION_LOST' })
    await clock.advance(5)
    await outcome
  })

  it('keeps lines in order while the database is away, counts those beyond, and says so', async () => {
    failure = new AppError('CONNECTION_LOST', 'operational', 'away')
    for (let line = 0; line < 5_010; line++) notes.log(fence, 'info', `line ${line}`)
    await clock.advance(1_000)
    failure = undefined
    await clock.advance(1_000)
    expect(lines.map(({ message }) => message)).toEqual(Array.from({ length: 5_000 }, (_, line) => `line ${line}`))
    expect(notes.droppedLines).toBe(10)
    notes.log(fence, 'info', 'after')
    await clock.advance(1_000)
    expect(lines.slice(5_000).map(({ message }) => message)).toEqual([
      '10 earlier log lines of this worker may be missing.',
      'after'
    ])
  })

  it('masks a secret before the line is stored', async () => {
    notes.log(fence, 'info', 'signed in, token=s3cret, salary=12000')
    await clock.advance(300)
    expect(lines.map(({ message }) => message)).toEqual(['signed in, token=••••, salary=••••'])
  })

  it('never writes lines twice that may be stored, and says so', async () => {
    failure = new AppError('COMMIT_UNKNOWN', 'operational', 'the reply is lost')
    notes.log(fence, 'info', 'charged the card')
    await clock.advance(300)
    failure = undefined
    notes.log(fence, 'info', 'after')
    await clock.advance(300)
    expect(lines.map(({ message }) => message)).toEqual(['1 earlier log lines of this worker may be missing.', 'after'])
    expect(notes.droppedLines).toBe(1)
  })

  it('has no problem any more when others wrote what it could not, or nothing is left', async () => {
    failure = new AppError('LOCK_TIMEOUT', 'operational', 'locked')
    notes.log(fence, 'info', 'last words')
    await clock.advance(300)
    expect(database.code).toBe('LOCK_TIMEOUT')
    failure = undefined
    await notes.flushLinesOf([fence])
    await clock.advance(300)
    expect(database.code).toBe('ok')
  })

  it('stores the lines of an ending attempt before it ends', async () => {
    notes.log(fence, 'info', 'last words')
    await notes.flushLinesOf([fence])
    expect(lines).toHaveLength(1)
  })

  it('waits for lines of an ending attempt that are being written already', async () => {
    const server = Promise.withResolvers<void>()
    answer = server.promise
    notes.log(fence, 'info', 'last words')
    await clock.advance(300)
    let flushed = false
    const flush = notes.flushLinesOf([fence]).then(() => (flushed = true))
    await clock.advance(10)
    expect(flushed).toBe(false)
    server.resolve()
    await flush
    expect(lines).toHaveLength(1)
  })
})
