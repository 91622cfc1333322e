import { expect, it, onTestFinished } from 'vitest'
import { AppError, scheduleInput, systemClock } from '../../kernel/index.ts'
import type { SubmitTasks } from '../schedules.ts'
import { QueueFile } from './queue-file.ts'
import { putSchedule, runSchedules } from './schedules.ts'
import { emptyQueue } from './test-file.fixture.ts'

it('a round tells of every schedule that failed, and leaves their ticks due', async () => {
  const file = await QueueFile.open({ file: await emptyQueue(), clock: systemClock })
  onTestFinished(() => file.close())
  for (const name of ['one', 'two'])
    await putSchedule(file, scheduleInput.parse({ name, cron: '* * * * * *', task: { type: 't', payload: '{}' } }))
  await file.write((session) =>
    session.run('UPDATE taskdeck_schedule SET next_at = :at', { at: session.at - 2_000_000 })
  )
  const away = new AppError('CONNECTION_LOST', 'operational', 'away')
  await expect(runSchedules(file, { submit: () => Promise.reject(away), clock: systemClock })).rejects.toMatchObject({
    code: 'CONNECTION_LOST',
    message: '2 schedules failed. "one": CONNECTION_LOST: away; "two": CONNECTION_LOST: away'
  })
  const tried: string[] = []
  const submit: SubmitTasks = (tasks) => {
    tried.push(...tasks.map(({ idempotencyKey }) => (idempotencyKey ?? '').split(':').at(-1) ?? ''))
    return Promise.resolve([{ status: 'created', taskId: '1' }])
  }
  await runSchedules(file, { submit, clock: systemClock })
  expect([...new Set(tried)].sort()).toEqual(['one', 'two'])
})
