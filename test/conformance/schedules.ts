import { describe, expect, it } from 'vitest'
import { AppError, scheduleInput, type Schedule, type ScheduleInput } from '../../src-main/kernel/index.ts'
import type { TaskStore } from '../../src-main/queue/task-store.ts'
import { task, type QueueUnderTest } from './queue-under-test.ts'

const daily = (over: Partial<ScheduleInput> = {}): ScheduleInput => ({
  name: 'daily',
  cron: '30 4 * * *',
  timeZone: 'Europe/Berlin',
  task: { type: 't', payload: '{"from":"schedule"}', owner: 'ada' },
  ...over
})

const minute = 60_000

export function describeSchedules(queue: QueueUnderTest): void {
  const only = async (store = queue.store): Promise<Schedule> => {
    const [schedule, ...rest] = await store.schedules()
    expect(rest).toEqual([])
    return schedule!
  }
  /** The next tick was `ms` ago, on a whole minute as the ticks of cron are; returns it. */
  const makeDue = async (ms: number): Promise<number> => {
    const { nextAt } = await only()
    const { at } = await queue.store.read()
    const tick = Math.floor((at - ms) / minute) * minute
    await queue.sql(`UPDATE taskdeck_schedule SET next_at = ${queue.shifted('next_at', tick - nextAt!)}`)
    return tick
  }

  describe('a schedule', () => {
    it('is kept as it was given, and its next tick is known', async () => {
      await queue.store.putSchedule(daily({ misfire: 'ALL' }))
      const { at } = await queue.store.read()
      const schedule = await only()
      expect(schedule).toEqual({
        ...scheduleInput.parse(daily({ misfire: 'ALL' })),
        ...{ nextAt: schedule.nextAt, lastTickAt: null, lastTaskId: null, missed: 0, problem: null }
      })
      expect(schedule.nextAt! - at).toBeGreaterThan(0)
      expect(schedule.nextAt! - at).toBeLessThanOrEqual(25 * 60 * minute)
      expect(new Date(schedule.nextAt!).toLocaleTimeString('de', { timeZone: 'Europe/Berlin' })).toBe('04:30:00')
    })

    it.each([
      [{ cron: '99 * * * *' }, /cron/],
      [{ timeZone: 'Mars/Olympus' }, /IANA name/],
      [{ task: { type: 't', payload: 'no json' } }, /payload/]
    ])('with %j is refused, with what to do, and nothing is written', async (over, message) => {
      const putting = queue.store.putSchedule(daily(over))
      await expect(putting).rejects.toThrow(message)
      await expect(putting).rejects.toMatchObject({ kind: 'user' })
      expect(await queue.store.schedules()).toEqual([])
    })

    it('is refused when there are a thousand others, but may be changed', async () => {
      await queue.store.putSchedule(daily())
      await queue.sql(`
        INSERT INTO taskdeck_schedule (name, cron, time_zone, misfire, enabled, task, updated_at)
        WITH RECURSIVE other AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM other WHERE n < 999)
        SELECT other.n, cron, time_zone, misfire, 0, task, updated_at FROM taskdeck_schedule CROSS JOIN other`)
      await expect(queue.store.putSchedule(daily({ name: 'one more' }))).rejects.toMatchObject({
        code: 'INVALID_INPUT',
        kind: 'user'
      })
      await queue.store.putSchedule(daily({ cron: '31 4 * * *' }))
      const schedules = await queue.store.schedules()
      expect(schedules).toHaveLength(1_000)
      expect(schedules.find(({ name }) => name === 'daily')).toMatchObject({ cron: '31 4 * * *' })
    })

    it('that is disabled, or removed, has no ticks', async () => {
      await queue.store.putSchedule(daily({ enabled: false }))
      expect(await only()).toMatchObject({ enabled: false, nextAt: null })
      expect(await queue.store.runSchedules()).toEqual({ submitted: [], nextInMs: null })
      expect(await queue.store.removeSchedule('daily')).toBe(true)
      expect(await queue.store.removeSchedule('daily')).toBe(false)
    })

    it('submits the task of its tick once it is due, and says when the next one is', async () => {
      await queue.store.putSchedule(daily({ cron: '* * * * *' }))
      const before = await queue.store.runSchedules()
      expect(before.submitted).toEqual([])
      expect(before.nextInMs).toBeLessThanOrEqual(minute)
      const tick = await makeDue(0)
      expect((await queue.store.runSchedules()).submitted).toHaveLength(1)
      const schedule = await only()
      expect(schedule).toMatchObject({ lastTickAt: tick, missed: 0, problem: null })
      expect(schedule.nextAt! - tick).toBeGreaterThanOrEqual(minute)
      expect(await queue.detail(schedule.lastTaskId!)).toMatchObject({
        ...{ state: 'QUEUED', type: 't', owner: 'ada', payload: '{"from":"schedule"}', runAt: tick },
        hasIdempotencyKey: true
      })
      expect((await queue.store.runSchedules()).submitted).toEqual([])
    })

    it('submits one task a tick, whatever the number of schedulers (FAULTS 37, 38)', async () => {
      const stores = await queue.openMany(4)
      await queue.store.putSchedule(daily({ cron: '* * * * *', misfire: 'ALL' }))
      const ticks = new Set<string>()
      for (let round = 1; round <= 5; round++) {
        await makeDue(round * 3 * minute)
        const rounds = await Promise.all(stores.flatMap((store) => [store.runSchedules(), store.runSchedules()]))
        const tasks = await queue.sql('SELECT run_at FROM taskdeck_task')
        ticks.clear()
        for (const row of tasks) ticks.add(String(row['run_at']))
        expect(tasks).toHaveLength(ticks.size)
        expect(rounds.some(({ nextInMs }) => nextInMs !== null)).toBe(true)
      }
      expect(ticks.size).toBeGreaterThanOrEqual(15)
      expect(ticks.size).toBeLessThanOrEqual(18)
    })

    it('that was submitted but not advanced (a scheduler died in between) makes no second task', async () => {
      await queue.store.putSchedule(daily({ cron: '* * * * *' }))
      const tick = await makeDue(0)
      await queue.store.runSchedules()
      const { lastTaskId, nextAt } = await only()
      await queue.sql(`UPDATE taskdeck_schedule SET next_at = ${queue.shifted('next_at', tick - nextAt!)}`)
      expect((await queue.store.runSchedules()).submitted).toEqual([])
      expect(await only()).toMatchObject({ lastTaskId, nextAt })
    })

    it.each([
      ['SKIP', 1],
      ['ONCE', 2],
      ['ALL', 6]
    ] as const)('that nobody was there for is handled as %s says', async (misfire, tasks) => {
      await queue.store.putSchedule(daily({ cron: '* * * * *', misfire }))
      const tick = await makeDue(5 * minute)
      const { submitted } = await queue.store.runSchedules()
      const { at } = await queue.store.read()
      // A minute may begin while this runs.
      const due = Math.floor((at - tick) / minute) + 1
      expect([tasks, tasks + 1]).toContain(submitted.length)
      const { missed } = await only()
      expect(missed).toBeGreaterThanOrEqual(4)
      expect(missed).toBeLessThanOrEqual(due - 1)
    })

    it('that is on time comes before one with missed ticks', async () => {
      await queue.store.putSchedule(daily({ cron: '* * * * *' }))
      await makeDue(5 * minute)
      const task = { type: 'punctual', payload: '{}' }
      await queue.store.putSchedule(daily({ name: 'punctual', cron: '* * * * * *', task }))
      const past = queue.shifted('next_at', -2_000)
      await queue.sql(`UPDATE taskdeck_schedule SET next_at = ${past} WHERE name = 'punctual'`)
      expect((await queue.store.runSchedules()).submitted.length).toBeGreaterThanOrEqual(3)
      const [made] = await queue.sql('SELECT MIN(id) AS id FROM taskdeck_task')
      expect(await queue.detail(String(made!['id']))).toMatchObject({ type: 'punctual' })
      const [late, punctual] = await queue.store.schedules()
      expect(late!.missed).toBeGreaterThanOrEqual(4)
      expect(punctual).toMatchObject({ name: 'punctual', missed: 0 })
    })

    it('is left as it is by a round that was stopped, and gets its task from the next one', async () => {
      await queue.store.putSchedule(daily({ cron: '* * * * *' }))
      const tick = await makeDue(0)
      expect((await queue.store.runSchedules(AbortSignal.abort())).submitted).toEqual([])
      expect(await only()).toMatchObject({ nextAt: tick, lastTickAt: null, missed: 0 })
      expect((await queue.store.runSchedules()).submitted).toHaveLength(1)
    })

    it('keeps a due tick when only its task is changed, and counts from now when its times are', async () => {
      await queue.store.putSchedule(daily({ cron: '* * * * *' }))
      const tick = await makeDue(0)
      await queue.store.putSchedule(daily({ cron: '* * * * *', task: { type: 't', payload: '{"n":2}' } }))
      expect((await only()).nextAt).toBe(tick)
      await queue.store.runSchedules()
      expect((await queue.detail((await only()).lastTaskId!)).payload).toBe('{"n":2}')
      await makeDue(0)
      await queue.store.putSchedule(daily({ cron: '0 0 1 1 *' }))
      expect((await queue.store.runSchedules()).submitted).toEqual([])
      expect((await only()).lastTickAt).toBe(tick)
    })

    it('whose task is refused keeps why, counts the tick, and does not keep others from theirs', async () => {
      const refusing = await queue.open()
      await queue.store.putSchedule(daily({ cron: '* * * * *' }))
      // As another program may have written it.
      await queue.sql(`UPDATE taskdeck_schedule SET task = '{"type":"t","payload":"no json"}'`)
      await makeDue(0)
      await queue.store.putSchedule(daily({ name: 'other', cron: '* * * * *' }))
      await queue.sql(
        `UPDATE taskdeck_schedule SET next_at = (SELECT due FROM (SELECT MIN(next_at) AS due FROM taskdeck_schedule) AS s)`
      )
      expect((await refusing.runSchedules()).submitted).toHaveLength(1)
      const [bad, good] = await queue.store.schedules()
      expect(bad).toMatchObject({
        name: 'daily',
        missed: 1,
        lastTaskId: null,
        problem: expect.stringContaining('payload') as string
      })
      expect(bad!.nextAt).toBeGreaterThan(0)
      expect(good).toMatchObject({ name: 'other', missed: 0, problem: null })
    })

    it('over a quota keeps that as its problem and counts the tick, until there is room again', async () => {
      await queue.store.putSchedule(daily({ cron: '* * * * *' }))
      await queue.store.setPolicy({ scope: 'TYPE', name: 't', maxUnfinished: 0 })
      await makeDue(0)
      expect((await queue.store.runSchedules()).submitted).toEqual([])
      expect(await only()).toMatchObject({ missed: 1, problem: expect.stringMatching(/^QUOTA_EXCEEDED: /) as string })
      await queue.store.removePolicy('TYPE', 't')
      await makeDue(0)
      expect((await queue.store.runSchedules()).submitted).toHaveLength(1)
      expect(await only()).toMatchObject({ missed: 1, problem: null })
    })

    it('written by another program gets its ticks from us; one that is none says so and blocks nobody', async () => {
      await queue.store.putSchedule(daily({ cron: '* * * * *' }))
      await queue.store.putSchedule(daily({ name: 'broken' }))
      await queue.sql(`UPDATE taskdeck_schedule SET next_at = NULL`)
      await queue.sql(`UPDATE taskdeck_schedule SET cron = 'whenever' WHERE name = 'broken'`)
      const { nextInMs } = await queue.store.runSchedules()
      expect(nextInMs).toBeLessThanOrEqual(minute)
      const [broken, fine] = await queue.store.schedules()
      expect(broken).toMatchObject({
        name: 'broken',
        nextAt: null,
        problem: expect.stringContaining('whenever') as string
      })
      expect(fine).toMatchObject({ name: 'daily', problem: null })
      expect(fine!.nextAt).not.toBeNull()
    })
  })

  describe('a request to a worker', () => {
    const report = (over: Partial<Parameters<TaskStore['reportWorker']>[0]> = {}) =>
      queue.store.reportWorker({
        ...{ id: 'w1', incarnation: 'one', host: 'host-1', pid: 42, version: '0.1.0', status: 'running' },
        ...{ slots: 8, running: 3, threads: 4, queued: 1, polledAgoMs: 100, claimedAgoMs: null },
        ...{ claimP50Ms: null, claimP95Ms: null, claimP99Ms: null, database: 'ok', fault: null, hintPort: null },
        ...over
      })

    it('is read with its next report, until it is taken back', async () => {
      expect(await queue.store.requestWorker('w1', 'STOP')).toBe(false)
      expect(await report()).toBeNull()
      const other = await queue.open()
      expect(await other.requestWorker('w1', 'QUIET')).toBe(true)
      expect(await report()).toBe('QUIET')
      expect(await report({ status: 'quiet' })).toBe('QUIET')
      expect((await queue.store.read()).workers).toMatchObject([{ id: 'w1', status: 'quiet', request: 'QUIET' }])
      await other.requestWorker('w1', null)
      expect(await report()).toBeNull()
      await expect(other.requestWorker('no id', 'STOP')).rejects.toBeInstanceOf(AppError)
    })

    it('is made to nobody when the worker stopped or is silent, and what was asked before can be taken back', async () => {
      const [old, young] = [-40_000, -20_000].map((ms) => queue.shifted('last_heartbeat_at', ms))
      await report()
      expect(await queue.store.requestWorker('w1', 'QUIET')).toBe(true)
      await queue.sql(`UPDATE taskdeck_worker SET last_heartbeat_at = ${old}`)
      expect(await queue.store.requestWorker('w1', 'STOP')).toBe(false)
      expect((await queue.store.read()).workers).toMatchObject([{ request: 'QUIET' }])
      expect(await queue.store.requestWorker('w1', null)).toBe(true)
      expect((await queue.store.read()).workers).toMatchObject([{ request: null }])
      await report()
      await queue.sql(`UPDATE taskdeck_worker SET last_heartbeat_at = ${young}`)
      expect(await queue.store.requestWorker('w1', 'STOP')).toBe(true)
      await report({ status: 'stopped' })
      expect(await queue.store.requestWorker('w1', 'QUIET')).toBe(false)
    })

    it('to be quiet does not weaken one to stop, which only taking it back clears', async () => {
      await report()
      await queue.store.requestWorker('w1', 'QUIET')
      expect(await queue.store.requestWorker('w1', 'STOP')).toBe(true)
      const weaker = queue.store.requestWorker('w1', 'QUIET')
      await expect(weaker).rejects.toMatchObject({ code: 'WORKER_STOPPING', kind: 'user' })
      expect(await queue.store.requestWorker('w1', 'STOP')).toBe(true)
      expect(await report()).toBe('STOP')
      await queue.store.requestWorker('w1', null)
      expect(await queue.store.requestWorker('w1', 'QUIET')).toBe(true)
      expect(await queue.store.requestWorker('w1', 'QUIET')).toBe(true)
      expect(await report()).toBe('QUIET')
    })

    it('ends with the process that it was made to', async () => {
      await report()
      await queue.store.requestWorker('w1', 'STOP')
      expect(await report({ status: 'stopped' })).toBe('STOP')
      expect(await report({ incarnation: 'two' })).toBeNull()
      expect((await queue.store.read()).workers).toMatchObject([{ request: null }])
    })

    it('shows who listens for hints: live workers of the host that claim', async () => {
      await report({ hintPort: 40_001 })
      await report({ id: 'w2', hintPort: 40_002, host: 'host-2' })
      await report({ id: 'w3', hintPort: 40_003, status: 'quiet' })
      await report({ id: 'w4' })
      await report({ id: 'w5', hintPort: 65_535 })
      expect((await queue.store.hintPorts('host-1')).sort()).toEqual([40_001, 65_535])
      const old = queue.shifted('last_heartbeat_at', -10 * minute)
      await queue.sql(`UPDATE taskdeck_worker SET last_heartbeat_at = ${old} WHERE id = 'w5'`)
      expect(await queue.store.hintPorts('host-1')).toEqual([40_001])
    })
  })

  it('submitting beside schedules keeps its own keys', async () => {
    await queue.store.putSchedule(daily({ cron: '* * * * *' }))
    await makeDue(0)
    const [own] = await queue.store.submit([task({ owner: 'ada', idempotencyKey: 'daily' })])
    await queue.store.runSchedules()
    expect((await only()).lastTaskId).not.toBe(own!.taskId)
  })
}
