import { describe, expect, it } from 'vitest'
import { systemClock, type AttemptError, type Fence, type QueueReading } from '../../kernel/index.ts'
import type { ClaimedTask, Settlement, TaskStore } from '../task-store.ts'
import { BoundedLabels } from './bounded-labels.ts'
import { meteredStore, RunningAttempts } from './metered-store.ts'
import { QueueMetrics } from './queue-metrics.ts'

const fence = (taskId: string): Fence => ({ taskId, workerId: 'w', attempt: 1 })
const claimed = (taskId: string, type: string): ClaimedTask => ({ fence: fence(taskId), type }) as ClaimedTask
const failure = (code: string): AttemptError => ({ code, message: '', class: 'retryable' })

const reading: Pick<QueueReading, 'depth' | 'oldest'> = {
  depth: [
    { type: 'mail', state: 'QUEUED', count: 3 },
    { type: 'mail', state: 'RETRY_WAIT', count: 2 },
    { type: 'mail', state: 'RUNNING', count: 1 }
  ],
  oldest: [{ type: 'mail', taskId: '1', ageMs: 12_500 }]
}

/** A store that answers what a test says; the parts that are counted, and one that is not. */
class SaidStore {
  answers: Partial<Record<keyof TaskStore, unknown>> = {}
  conflicts = 0
  readonly kind = 'sqlite'
  submit = () => this.answer('submit')
  renew = () => this.answer('renew')
  runSchedules = () => this.answer('runSchedules')
  settle = () => this.answer('settle')
  act = () => this.answer('act')
  recover = () => this.answer('recover')
  read = () => this.answer('read')
  // A method of the prototype's kind: it needs `this`.
  get(): Promise<unknown> {
    return this.answer('get')
  }
  claim = ({ onConflict }: { onConflict?: () => void }) => {
    for (let n = 0; n < this.conflicts; n++) onConflict?.()
    return this.answer('claim')
  }
  private answer(method: keyof TaskStore): Promise<unknown> {
    const said = this.answers[method]
    return said instanceof Error ? Promise.reject(said) : Promise.resolve(said)
  }
}

function open() {
  const said = new SaidStore()
  said.answers.read = reading
  const store = said as unknown as TaskStore
  const metrics = new QueueMetrics({ clock: systemClock, read: () => store.read() })
  const counted = meteredStore(store, { metrics, clock: systemClock, attempts: new RunningAttempts() })
  const settle = async (state: string | undefined, settlement: Settlement): Promise<void> => {
    said.answers.settle = [{ fence: settlement.fence, state }]
    await counted.settle([settlement])
  }
  const claim = async (...tasks: ClaimedTask[]): Promise<void> => {
    said.answers.claim = tasks
    await counted.claim({ workerId: 'w', limit: 10, leaseMs: 1_000, types: [] })
  }
  const lines = async (): Promise<string[]> => (await metrics.text()).split('\n')
  return { said, metrics, counted, settle, claim, lines }
}

describe('a counted store', () => {
  it('counts what was submitted and leaves out what existed', async () => {
    const { said, counted, lines } = open()
    said.answers.submit = [{ status: 'created' }, { status: 'exists' }, { status: 'conflict' }]
    await counted.submit([{ type: 'mail' }, { type: 'mail' }, { type: 'mail' }] as never)
    expect(await lines()).toContain('taskdeck_tasks_submitted_total{type="mail"} 1')
  })

  it('counts what schedules submitted', async () => {
    const { said, counted, lines } = open()
    said.answers.runSchedules = { submitted: [], nextInMs: null }
    await counted.runSchedules()
    expect((await lines()).filter((line) => line.startsWith('taskdeck_tasks_submitted_total{'))).toEqual([])
    said.answers.runSchedules = { submitted: ['mail', 'report', 'mail'], nextInMs: 10 }
    await counted.runSchedules()
    expect(await lines()).toEqual(
      expect.arrayContaining([
        'taskdeck_tasks_submitted_total{type="mail"} 2',
        'taskdeck_tasks_submitted_total{type="report"} 1'
      ])
    )
  })

  it('counts claims, their conflicts and each end once, though a settlement is repeated', async () => {
    const { said, settle, claim, lines } = open()
    said.conflicts = 2
    await claim(...['1', '2', '3', '4', '5', '6'].map((id) => claimed(id, 'mail')))
    const success: Settlement = { fence: fence('1'), outcome: 'SUCCESS', result: null }
    await settle('SUCCESS', success)
    await settle('SUCCESS', success)
    await settle('PARTIAL_SUCCESS', { fence: fence('2'), outcome: 'PARTIAL_SUCCESS', result: null })
    await settle('RETRY_WAIT', { fence: fence('3'), outcome: 'RETRY', error: failure('TIMEOUT'), delayMs: 1 })
    await settle('FAILED', { fence: fence('4'), outcome: 'FAILED', error: failure('NO_SUCH_FILE') })
    await settle('QUEUED', { fence: fence('5'), outcome: 'HANDED_BACK' })
    await settle('CANCELLED', { fence: fence('6'), outcome: 'CANCELLED' })
    expect(await lines()).toEqual(
      expect.arrayContaining([
        'taskdeck_tasks_claimed_total{type="mail"} 6',
        'taskdeck_claim_conflicts_total 2',
        'taskdeck_tasks_succeeded_total{type="mail",outcome="success"} 1',
        'taskdeck_tasks_succeeded_total{type="mail",outcome="partial_success"} 1',
        'taskdeck_tasks_retried_total{type="mail",code="TIMEOUT"} 1',
        'taskdeck_tasks_timed_out_total{type="mail"} 1',
        'taskdeck_tasks_failed_total{type="mail",code="NO_SUCH_FILE"} 1',
        'taskdeck_tasks_handed_back_total{type="mail"} 1',
        'taskdeck_tasks_cancelled_total{type="mail"} 1',
        'taskdeck_task_duration_seconds_count{type="mail"} 6'
      ])
    )
  })

  it('counts lost leases once, and renewals that failed', async () => {
    const { said, counted, settle, claim, lines } = open()
    await claim(claimed('1', 'mail'), claimed('2', 'mail'))
    said.answers.renew = { renewed: [], lost: [fence('1')], cancelRequested: [] }
    await counted.renew([fence('1')])
    await counted.renew([fence('1')])
    await settle(undefined, { fence: fence('2'), outcome: 'SUCCESS', result: null })
    said.answers.renew = new Error('away')
    await expect(counted.renew([fence('1')])).rejects.toThrow('away')
    expect(await lines()).toEqual(
      expect.arrayContaining([
        'taskdeck_lease_renewal_failures_total{reason="lost"} 2',
        'taskdeck_lease_renewal_failures_total{reason="error"} 1'
      ])
    )
  })

  it('counts tasks that fail with what they wait for, whoever ended that, and those that come too late for it', async () => {
    const { said, counted, claim, lines } = open()
    await claim(claimed('1', 'mail'), claimed('2', 'mail'))
    const dependents = [
      { taskId: '8', type: 'report', reason: 'DEPENDENCY', state: 'FAILED' },
      { taskId: '9', type: 'report', reason: 'DEPENDENCY', state: 'QUEUED' }
    ]
    said.answers.settle = [
      { fence: fence('1'), state: 'FAILED', dependents },
      { fence: fence('2'), state: 'SUCCESS' }
    ]
    await counted.settle([
      { fence: fence('1'), outcome: 'FAILED', error: failure('NO_SUCH_FILE') },
      { fence: fence('2'), outcome: 'SUCCESS', result: null }
    ])
    expect(await lines()).toContain('taskdeck_tasks_failed_total{type="report",code="DEPENDENCY"} 1')
    said.answers.act = { status: 'done', from: 'QUEUED', to: 'CANCELLED', dependents }
    await counted.act('1', 'cancel', 'ada')
    said.answers.submit = [{ status: 'created', taskId: '10', isFailed: true }]
    await counted.submit([{ type: 'report' }] as never)
    expect(await lines()).toContain('taskdeck_tasks_failed_total{type="report",code="DEPENDENCY"} 3')
  })

  it('counts what recovery ended', async () => {
    const { said, counted, lines } = open()
    said.answers.recover = [
      { type: 'mail', reason: 'LEASE_EXPIRED', state: 'RETRY_WAIT' },
      { type: 'mail', reason: 'DEADLINE', state: 'FAILED' }
    ]
    await counted.recover(10)
    expect(await lines()).toEqual(
      expect.arrayContaining([
        'taskdeck_leases_expired_total{type="mail"} 1',
        'taskdeck_tasks_retried_total{type="mail",code="LEASE_EXPIRED"} 1',
        'taskdeck_tasks_failed_total{type="mail",code="DEADLINE"} 1'
      ])
    )
  })

  it('passes everything else through', async () => {
    const { said, counted } = open()
    said.answers.get = 'a task'
    expect(counted.kind).toBe('sqlite')
    expect(await counted.get('1')).toBe('a task')
  })
})

describe('the figures of the queue', () => {
  it('are what the database says', async () => {
    expect(await open().lines()).toEqual(
      expect.arrayContaining([
        'taskdeck_tasks{type="mail",state="RUNNING"} 1',
        'taskdeck_tasks_pending{type="mail"} 5',
        'taskdeck_oldest_pending_seconds 12.5'
      ])
    )
  })

  it('are left out when the database does not say, and come back', async () => {
    const { said, lines } = open()
    said.answers.read = new Error('away')
    const without = await lines()
    expect(without.filter((line) => /^taskdeck_(tasks|tasks_pending|oldest_pending_seconds)[ {]/.test(line))).toEqual(
      []
    )
    expect(without).toContain('taskdeck_queue_read_failures_total 1')
    said.answers.read = reading
    expect(await lines()).toContain('taskdeck_oldest_pending_seconds 12.5')
  })
})

it('labels have a bound: what comes later counts as other', async () => {
  const labels = new BoundedLabels(2)
  expect(['a', 'b', 'c', 'a', 'd'].map((value) => labels.of(value))).toEqual(['a', 'b', 'other', 'a', 'other'])
  const { counted, said, lines } = open()
  said.answers.submit = Array.from({ length: 5_000 }, () => ({ status: 'created' }))
  await counted.submit(Array.from({ length: 5_000 }, (_, n) => ({ type: `type-${n}` })) as never)
  const series = (await lines()).filter((line) => line.startsWith('taskdeck_tasks_submitted_total{'))
  expect(series).toHaveLength(101)
  expect(series).toContain('taskdeck_tasks_submitted_total{type="other"} 4900')
})
