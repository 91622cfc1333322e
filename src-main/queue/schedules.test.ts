import { describe, expect, it } from 'vitest'
import { AppError, type NewTask } from '../kernel/index.ts'
import { checkSchedule, failedSchedules, runTicks, showSchedule, taskOfTick, type DueSchedule } from './schedules.ts'
import type { SubmitResult } from './task-store.ts'

const at = (text: string): number => Date.parse(text)
const input = { name: 's', cron: '0 * * * *', task: { type: 't', payload: '{}' } }

describe('checkSchedule', () => {
  it.each([
    [{ ...input, cron: '61 * * * *' }, /no cron text.*minute/],
    [{ ...input, cron: '* * *' }, /3 fields; cron has five/],
    [{ ...input, cron: '2030-01-01T00:00:00' }, /1 fields/],
    [{ ...input, cron: '0 0 30 2 *' }, /never comes/],
    [{ ...input, cron: '@reboot' }, /no cron text/],
    [{ ...input, timeZone: 'Mars/Olympus' }, /IANA name/],
    [{ ...input, timeZone: '+02:00' }, /IANA name/],
    [{ ...input, name: '' }, /name/],
    [{ ...input, task: { type: 't', payload: '{bad' } }, /schedule's task.*JSON/],
    [{ ...input, task: { type: 'no type', payload: '{}' } }, /task type/],
    [{ ...input, task: { ...input.task, deadlineAt: 1 } }, /leave deadlineAt out/]
  ])('refuses %j and says what to do', (schedule, message) => {
    expect(() => checkSchedule(schedule, 0)).toThrow(message)
    expect(() => checkSchedule(schedule, 0)).toThrow(AppError)
  })

  it('counts the next tick from now, and none for one that is disabled', () => {
    expect(checkSchedule(input, at('2026-05-01T10:20:00Z')).nextAt).toBe(at('2026-05-01T11:00:00Z'))
    expect(checkSchedule({ ...input, enabled: false }, 0).nextAt).toBeNull()
    expect(checkSchedule({ ...input, cron: '@daily' }, 0).nextAt).toBe(at('1970-01-02T00:00:00Z'))
  })
})

describe('runTicks', () => {
  const now = at('2026-05-01T12:00:30Z')
  const schedule = (misfire: DueSchedule['misfire'], nextAt: string): DueSchedule => ({
    ...checkSchedule({ ...input, cron: '* * * * *', misfire }, now),
    nextAt: at(nextAt),
    lastTickAt: null,
    lastTaskId: null
  })
  const giveWay = (): Promise<void> => Promise.resolve()
  const quota = new AppError('INVALID_INPUT', 'user', 'Too many.')

  it('has no tick for a schedule that another program switched off, and none after it', async () => {
    const refuse = (): Promise<SubmitResult[]> => Promise.reject(new Error('nothing is due'))
    const done = await runTicks({ ...schedule('ALL', '2026-05-01T11:59:00Z'), enabled: false }, now, {
      submit: refuse,
      giveWay
    })
    expect(done).toMatchObject({ nextAt: null, missedMore: 0, submitted: [], problem: null })
  })

  it('names each tick in the key of its task, so that it happens once', async () => {
    const keys: (string | null)[] = []
    const submit = ([task]: readonly NewTask[]): Promise<SubmitResult[]> => {
      keys.push(task!.idempotencyKey)
      return Promise.resolve([{ status: keys.length === 1 ? 'exists' : 'created', taskId: String(keys.length) }])
    }
    const done = await runTicks(schedule('ALL', '2026-05-01T11:59:00Z'), now, { submit, giveWay })
    expect(keys).toEqual(['schedule:2026-05-01T11:59:00.000Z:s', 'schedule:2026-05-01T12:00:00.000Z:s'])
    expect(done).toMatchObject({ submitted: ['t'], missedMore: 1, lastTaskId: '2', problem: null })
    const [first, second] = [1, 2].map((tick) => taskOfTick(schedule('ALL', '2026-05-01T11:59:00Z'), tick))
    expect(first!.idempotencyKey).not.toBe(second!.idempotencyKey)
    expect(first!.runAt).toBe(1)
  })

  it('keeps why a tick was refused, counts it, and goes on with the next', async () => {
    const done = await runTicks(schedule('ONCE', '2026-05-01T12:00:00Z'), now, {
      submit: () => Promise.reject(quota),
      giveWay
    })
    expect(done).toMatchObject({
      submitted: [],
      missedMore: 1,
      lastTickAt: null,
      problem: 'INVALID_INPUT: Too many.',
      nextAt: at('2026-05-01T12:01:00Z')
    })
  })

  it('leaves its ticks due while the database is away', async () => {
    const away = new AppError('CONNECTION_LOST', 'operational', 'away')
    await expect(
      runTicks(schedule('ONCE', '2026-05-01T12:00:00Z'), now, { submit: () => Promise.reject(away), giveWay })
    ).rejects.toBe(away)
  })
})

describe('failedSchedules', () => {
  const away = new AppError('CONNECTION_LOST', 'operational', 'away')

  it('is the failure itself when it is one', () => {
    expect(failedSchedules([{ name: 'a', error: away }])).toBe(away)
  })

  it('names all that failed, and a fault of ours before what is operational', () => {
    const bug = new TypeError('not a function')
    const problem = failedSchedules([
      { name: 'a', error: away },
      { name: 'b', error: bug }
    ])
    expect(problem).toMatchObject({ code: 'BUG', kind: 'bug', details: { schedules: 2 } })
    expect(problem.message).toBe('2 schedules failed. "a": CONNECTION_LOST: away; "b": BUG: not a function')
    expect((problem.cause as AggregateError).errors).toEqual([away, bug])
  })

  it('names five of many', () => {
    const many = Array.from({ length: 100 }, (_, n) => ({ name: `s${n}`, error: away }))
    const { message } = failedSchedules(many)
    expect(message).toMatch(/^100 schedules failed\. "s0": .*"s4": CONNECTION_LOST: away; and 95 more$/)
  })
})

it('shows a row that another program broke, and why', () => {
  const row = {
    ...{ name: 's', cron: 'x', timeZone: 'UTC', misfire: 'NEVER', enabled: true, task: '{' },
    ...{ nextAt: null, lastTickAt: null, lastTaskId: null, missed: 0, problem: null }
  }
  expect(showSchedule(row)).toMatchObject({
    name: 's',
    enabled: true,
    problem: expect.stringContaining('misfire') as string
  })
})
