import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { safeFileName, systemClock } from '../../../kernel/index.ts'
import { artifactPath } from '../artifact-files.ts'
import { cellCount, threadLimits, type FromThread, type HandedTask } from '../protocol.ts'
import { openContext, type TaskContext } from './handler-context.ts'
import type { WorkerLink } from './worker-link.ts'

const handed: HandedTask = {
  handover: 1,
  taskId: '1',
  attempt: 1,
  type: 't',
  payload: '{}',
  idempotencyKey: 'key',
  checkpoint: null,
  watched: false
}

/** `sent` is all that reached the worker. */
function open(
  changes: Partial<HandedTask> = {},
  artifactDir = '/nowhere'
): TaskContext & { sent: Partial<FromThread>[] } {
  const sent: Partial<FromThread>[] = []
  const link: Pick<WorkerLink, 'tell' | 'ask'> = {
    tell: (message) => void sent.push(message),
    ask: (message) => Promise.resolve(sent.push(message))
  }
  const opened = openContext({
    task: { ...handed, ...changes },
    link: link as WorkerLink,
    cells: new Int32Array(cellCount),
    artifactDir,
    clock: systemClock
  })
  return { ...opened, sent }
}

describe('what a handler sees', () => {
  it('has the checkpoint of an earlier attempt, and none when that is no JSON', () => {
    expect(open({ checkpoint: '{"row":7}' }).context.checkpoint).toEqual({ row: 7 })
    expect(open({ checkpoint: '{"row":' }).context.checkpoint).toBeUndefined()
    expect(open().context.checkpoint).toBeUndefined()
  })

  it.each([
    [
      'too many rows',
      Array.from({ length: threadLimits.rowsPerInsert + 1 }, (_, n) => ({ rowNumber: n + 1, data: '' }))
    ],
    ['a row that is too long', [{ rowNumber: 1, data: 'x'.repeat(threadLimits.rowBytes + 1) }]],
    ['a row number that is none', [{ rowNumber: 0.5, data: '' }]]
  ])('refuses %s with a reason, before the worker ends the thread for it', async (_what, rows) => {
    const { context, sent } = open()
    await expect(context.rows.insert('import', rows)).rejects.toMatchObject({ code: 'ROWS_NOT_USABLE' })
    expect(sent).toEqual([])
  })

  it('reports counts that the worker takes, whatever the handler counts', () => {
    const opened = open()
    opened.context.progress({ processed: 1e300, succeeded: NaN, failed: -1 })
    expect(opened.latestProgress()).toEqual({
      total: null,
      processed: Number.MAX_SAFE_INTEGER,
      succeeded: 0,
      failed: 0,
      skipped: 0
    })
  })

  it('keeps two files whose long names differ only where they are cut', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'taskdeck-artifacts-'))
    try {
      const { context, sent } = open({}, folder)
      for (const end of ['a', 'b']) {
        await context.artifact({ name: `${'😀'.repeat(100)}${end}`, contentType: 'text/csv', content: end })
      }
      const names = sent.map((message) => (message.kind === 'artifact' && message.name) || '')
      expect(new Set(names).size).toBe(2)
      for (const name of names) expect(safeFileName(name)).toBe(name)
      const contents = names.map((name) => readFile(artifactPath(folder, '1', 1, name), 'utf8'))
      expect(await Promise.all(contents)).toEqual(['a', 'b'])
    } finally {
      await rm(folder, { recursive: true })
    }
  })

  it('keeps two files apart that have one safe name', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'taskdeck-artifacts-'))
    try {
      const { context, sent } = open({}, folder)
      await Promise.all(
        ['a/b.csv', 'a:b.csv'].map((name) => context.artifact({ name, contentType: 'text/csv', content: name }))
      )
      const names = sent.map((message) => (message.kind === 'artifact' && message.name) || '')
      expect(names.toSorted()).toEqual(['a_b (2).csv', 'a_b.csv'])
      const contents = names.map((name) => readFile(artifactPath(folder, '1', 1, name), 'utf8'))
      expect((await Promise.all(contents)).toSorted()).toEqual(['a/b.csv', 'a:b.csv'])
    } finally {
      await rm(folder, { recursive: true })
    }
  })
})
