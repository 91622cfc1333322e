// A small service as a user would write it: TypeScript, ESM, nothing of the app. Prints one JSON line that the test reads.
import { setTimeout as pause } from 'node:timers/promises'
import { AppError, openQueue, type TaskDetail } from 'taskdeck'
import { greet } from './handlers/greet.ts'

const [address = ''] = process.argv.slice(2)
const target = address.startsWith('mysql:') ? address : `sqlite:${address}`

const refusal = async (work: Promise<unknown>): Promise<string> => {
  try {
    await work
    return 'nothing'
  } catch (error) {
    return error instanceof AppError ? error.code : String(error)
  }
}

const beforeTables = address.startsWith('mysql:') ? await refusal(openQueue(target)) : 'SCHEMA_MISSING'
const queue = await openQueue(target, { migrate: true })
const worker = await queue.startWorker({
  handlers: new URL('./handlers/', import.meta.url),
  artifactDir: './artifacts',
  pollMs: 20,
  sensitiveKeys: ['salary'],
  // It reads what is asked of it three times a lease.
  leaseMs: 6_000,
  metricsPort: 0
})

const first = await queue.submit({ handler: greet, payload: { name: 'Ada' }, idempotencyKey: 'once' })
const again = await queue.submit({ handler: greet, payload: { name: 'Ada' }, idempotencyKey: 'once' })
const many = await queue.submitMany([
  { handler: greet, payload: { name: 'Bob', times: 2 } },
  { type: 'greet', payload: { name: 'Cleo' }, priority: 0, runAt: new Date(0) }
])
const refusals = {
  beforeTables,
  conflict: await refusal(queue.submit({ handler: greet, payload: { name: 'Eve' }, idempotencyKey: 'once' })),
  // From JavaScript, or read from outside: what the compiler cannot see is refused before it is sent.
  payload: await refusal(queue.submit({ handler: greet, payload: JSON.parse('{"name":5}') as { name: string } })),
  type: await refusal(queue.submit({ type: 'two words' })),
  address: await refusal(openQueue('postgres://nobody:secret@nowhere/x')),
  folder: await refusal(queue.startWorker({ handlers: './no-such-folder' })),
  noHandlers: await refusal(queue.startWorker()),
  field: await refusal(queue.submit({ type: 'greet', ...JSON.parse('{"run_at":0}') } as { type: string })),
  option: await refusal(queue.startWorker(JSON.parse('{"concurency":2}') as object)),
  policy: await refusal(
    queue.policies.set({ scope: 'TYPE', name: 'greet', ...(JSON.parse('{"max_running":1}') as object) })
  )
}

await queue.policies.set({ scope: 'TYPE', name: 'greet', maxRunning: 2 })
const policies = await queue.policies.list()
await queue.policies.remove('TYPE', 'greet')

async function ended(taskId: string): Promise<TaskDetail> {
  for (;;) {
    const task = await queue.get(taskId)
    if (task?.finishedAt) return task
    await pause(20) // the embedded store answers without leaving this turn: the worker needs one, too
  }
}

const results = []
for (const { taskId } of [first, ...many]) results.push(JSON.parse((await ended(taskId)).result ?? 'null') as unknown)

const { taskId: brokenId } = await queue.submit({ type: 'broken' })
await ended(brokenId)
const dead = (await queue.deadLetters.list({ types: ['broken'] })).rows
const replayed = await queue.deadLetters.replay({ types: ['broken'] }, { by: 'on-call' })
await ended(brokenId)
const discarded = await queue.deadLetters.discard({ types: ['broken'], errorCode: 'BROKEN' })
const resolved = (['REPLAYED', 'DISCARDED'] as const).map((resolution) => queue.deadLetters.list({ resolution }))
const letters = {
  ...{ dead, replayed, discarded, left: await queue.deadLetters.count() },
  resolvedBy: (await Promise.all(resolved)).flatMap(({ rows }) => rows.map(({ resolvedBy }) => resolvedBy)),
  nobody: await refusal(queue.deadLetters.discard({}, { by: ' ' })),
  misspelt: await refusal(queue.act(brokenId, 'retry', JSON.parse('{"who":"me"}') as object))
}

await queue.schedules.put({ name: 'yearly', cron: '0 0 1 1 *', task: { type: 'greet', payload: '{"name":"Year"}' } })
const schedules = { all: await queue.schedules.list(), removed: await queue.schedules.remove('yearly') }

const metrics = await (await fetch(worker.metricsUrl ?? '')).text()
const alive = (await queue.workers.list()).filter(({ status }) => status === 'running')
const workers = alive.map(({ id, status }) => ({ own: id === worker.id, status }))
const asked = await queue.workers.request(worker.id, 'STOP')
await worker.finished
await queue.close()
const afterClose = await refusal(queue.submit({ type: 'greet' }))
const policiesAfterClose = await refusal(queue.policies.list())
console.log(
  JSON.stringify({
    first,
    again,
    results,
    refusals: { ...refusals, afterClose, policiesAfterClose },
    policies,
    letters,
    schedules,
    workers: { workers, asked },
    metrics
  })
)
