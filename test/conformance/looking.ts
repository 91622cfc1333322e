import { describe, expect, it } from 'vitest'
import { AppError, deadLetterFilter, taskFilter, taskLimits, type TaskFilter } from '../../src-main/kernel/index.ts'
import { failure, task, type QueueUnderTest } from './queue-under-test.ts'

const filter = (conditions: Partial<TaskFilter> = {}): TaskFilter => taskFilter.parse(conditions)
const payloads = [
  '{"id":9007199254740993,"price":1.10,"deep":{"b":1,"a":2}}',
  '{ "b" : 1,\n\t"a":1, "b":2 }',
  '"\\ud83c\\udfa9 and 🎩"',
  '-0.0',
  'null',
  `[${'{"k":"€🎩"},'.repeat(20_000)}0]`
]

export function describeLooking(queue: QueueUnderTest): void {
  const found = async (conditions: Partial<TaskFilter>, limit = 100): Promise<string[]> =>
    (await queue.store.list(filter(conditions), limit, null)).rows.map((row) => row.id)

  describe('looking at a task', () => {
    it.each(['18446744073709551615', '9223372036854775808', '987654321'])('finds no task %s', async (id) => {
      expect(await queue.store.get(id)).toBeUndefined()
      expect(await queue.store.log(id, null)).toEqual([])
      expect(await queue.store.artifact(id, id)).toBeUndefined()
    })

    it.each(payloads)('returns payload %# byte for byte (FAULTS 49)', async (payload) => {
      const taskId = await queue.submit({ payload })
      expect((await queue.detail(taskId)).payload).toBe(payload)
      const [claimed] = await queue.claim()
      expect(claimed!.payload).toBe(payload)
    })

    it('returns result and checkpoint byte for byte', async () => {
      const fence = await queue.running()
      const text = '{"z":12345678901234567890, "a":"🎩\\u0000"}'
      const progress = { total: null, processed: 0, succeeded: 0, failed: 0, skipped: 0 }
      await queue.store.saveProgress([{ fence, progress, checkpoint: text }])
      await queue.settle({ fence, outcome: 'SUCCESS', result: text })
      expect(await queue.detail(fence.taskId)).toMatchObject({ result: text, checkpoint: text, progress })
    })
  })

  describe('the log', () => {
    it('keeps the order of the lines and pages through them', async () => {
      const fence = await queue.running()
      const lines = Array.from({ length: 1_203 }, (_, i) => ({ fence, level: 'info' as const, message: `line ${i}` }))
      await queue.store.appendLog(lines.slice(0, 700))
      await queue.store.appendLog(lines.slice(700))
      const newest = await queue.store.log(fence.taskId, null)
      expect(newest.map((line) => line.message)).toEqual(lines.slice(-500).map((line) => line.message))
      const after = await queue.store.log(fence.taskId, newest[10]!.id)
      expect(after).toEqual(newest.slice(11))
      expect(await queue.store.log(fence.taskId, newest.at(-1)!.id)).toEqual([])
      const page = await queue.store.log(fence.taskId, '0')
      expect(page.map((line) => line.message)).toEqual(lines.slice(0, 500).map((line) => line.message))
    })

    it('holds the lines of one task only, with attempt, level and time', async () => {
      const fence = await queue.running()
      const other = await queue.running()
      await queue.store.appendLog([
        { fence, level: 'error', message: 'of the first' },
        { fence: other, level: 'debug', message: 'of the other' }
      ])
      const [line, ...rest] = await queue.store.log(fence.taskId, null)
      expect(rest).toEqual([])
      expect(line).toMatchObject({ attempt: 1, level: 'error', message: 'of the first' })
      const { startedAt } = await queue.detail(fence.taskId)
      expect(line!.at).toBeGreaterThanOrEqual(startedAt!)
      expect(line!.at).toBeLessThan(startedAt! + 60_000)
    })

    it('stores any text, cut to the limit', async () => {
      const fence = await queue.running()
      const messages = ['x'.repeat(1_000_000), 'a\0b', 'half \ud83c', '🎩'.repeat(5_000), '']
      await queue.store.appendLog(messages.map((message) => ({ fence, level: 'info' as const, message })))
      const lines = await queue.store.log(fence.taskId, null)
      expect(lines).toHaveLength(messages.length)
      for (const { message } of lines) {
        expect(Buffer.byteLength(message)).toBeLessThanOrEqual(taskLimits.logMessageBytes)
        expect(message.isWellFormed()).toBe(true)
      }
    })

    it('does nothing for no lines', async () => {
      await queue.store.appendLog([])
      expect(await queue.count('log')).toBe(0)
    })
  })

  describe('the list', () => {
    it('shows the newest first, as get does', async () => {
      const older = await queue.running({ title: 'A', businessKey: 'b' })
      await queue.settle({ fence: older, outcome: 'RETRY', error: failure, delayMs: 60_000 })
      const newer = await queue.submit()
      const { rows, nextCursor } = await queue.store.list(filter(), 10, null)
      expect(rows.map((row) => row.id)).toEqual([newer, older.taskId])
      expect(nextCursor).toBeNull()
      expect(await queue.detail(older.taskId)).toMatchObject(rows[1]!)
    })

    it('filters by every condition, all at once', async () => {
      const created = await queue.store.submit([
        task({ type: 'a', owner: 'ann', businessKey: 'order-1', title: '50% off' }),
        task({ type: 'b', owner: 'ann', title: '500 things', held: true }),
        task({ type: 'c', owner: 'bob', title: 'Order of the day', businessKey: 'x' }),
        task({ type: 'a', owner: 'bob', title: 'a_b', held: true })
      ])
      const [one, two, three, four] = created.map((r) => r.taskId) as [string, string, string, string]
      const [claimed] = await queue.claim(1, { types: ['c'], workerId: 'w-7' })
      await queue.settle({ fence: claimed!.fence, outcome: 'FAILED', error: { ...failure, code: 'E_SPECIAL' } })
      expect(await found({ states: ['QUEUED'] })).toEqual([one])
      expect(await found({ states: ['CREATED', 'FAILED'] })).toEqual([four, three, two])
      expect(await found({ types: ['a'] })).toEqual([four, one])
      expect(await found({ types: ['a', 'b'], states: ['CREATED'] })).toEqual([four, two])
      expect(await found({ owner: 'ann' })).toEqual([two, one])
      expect(await found({ workerId: 'w-7' })).toEqual([three])
      expect(await found({ errorCode: 'E_SPECIAL' })).toEqual([three])
      expect(await found({ search: one })).toContain(one)
      expect(await found({ search: 'order-1' })).toEqual([one])
      expect(await found({ search: '50%' })).toEqual([one])
      expect(await found({ search: '50' })).toEqual([two, one])
      expect(await found({ search: 'a_' })).toEqual([four])
      expect(await found({ search: '%' })).toEqual([])
      expect(await found({ search: '\\' })).toEqual([])
      expect(await found({ search: 'off' })).toEqual([])
      expect(await found({ owner: 'bob', types: ['a'], states: ['CREATED'], search: 'a' })).toEqual([four])
      expect(await found({ owner: 'nobody' })).toEqual([])
    })

    it('filters by the time of creation, both ends included', async () => {
      const taskId = await queue.submit()
      const old = await queue.submit()
      await queue.shift(old, 'created_at', -3_600_000)
      const { createdAt } = await queue.detail(taskId)
      expect(await found({ createdFrom: createdAt - 1_000 })).toEqual([taskId])
      expect(await found({ createdTo: createdAt - 1_000 })).toEqual([old])
      expect(await found({ createdFrom: createdAt - 7_200_000, createdTo: createdAt + 1_000 })).toEqual([old, taskId])
    })

    it.each([{}, { states: ['QUEUED', 'CREATED'] as const }])(
      'pages through %o without gap or repeat while rows are inserted',
      async (conditions) => {
        const created = await queue.store.submit(Array.from({ length: 45 }, (_, i) => task({ held: i % 3 === 0 })))
        const wanted = filter({ ...conditions, states: [...(conditions.states ?? [])] })
        const seen: string[] = []
        let cursor: string | null = null
        let pages = 0
        do {
          const page = await queue.store.list(wanted, 10, cursor)
          seen.push(...page.rows.map((row) => row.id))
          cursor = page.nextCursor
          pages++
          await queue.store.submit([task(), task({ held: true })])
        } while (cursor !== null && pages < 20)
        expect(seen).toEqual(created.map((r) => r.taskId).reverse())
        expect(pages).toBe(5)
      }
    )

    it('ends without another page when the last one is exactly full', async () => {
      await queue.store.submit(Array.from({ length: 10 }, () => task()))
      const page = await queue.store.list(filter(), 10, null)
      expect(page.rows).toHaveLength(10)
      expect(page.nextCursor).toBeNull()
    })

    it('refuses a cursor that it did not give, as the list of dead letters does', async () => {
      const error = await queue.store.list(filter(), 10, 'no cursor').catch((thrown: unknown) => thrown)
      expect(error).toBeInstanceOf(AppError)
      const { code, message } = error as AppError
      expect(code).toBe('INVALID_INPUT')
      const letters = queue.store.deadLetters(deadLetterFilter.parse({}), 10, 'no cursor')
      await expect(letters).rejects.toMatchObject({ code, message })
    })
  })
}
