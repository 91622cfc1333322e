import { randomUUID } from 'node:crypto'
import { allowedActions, taskLimits, type NewTask, type TaskView } from '../../contract/index.ts'
import {
  AppError,
  type MaskText,
  type AttemptError,
  type LogLine,
  type TaskDetail,
  type TaskSummary
} from '../../kernel/index.ts'
import { artifactObstacles, readArtifact, writeBlock } from '../../operations/index.ts'
import type { TaskStore } from '../../queue/task-store.ts'
import { requireFittingPayload } from '../payload-check.ts'
import { toProblem } from '../problem.ts'
import type { Implementer } from './implementer.ts'
import type { Services } from './services.ts'

/** Of one submit, all copies together; one payload may have a MiB. */
const submitBytes = 64 * 1_048_576

export function taskProcedures(os: Implementer, services: Services) {
  const { connections, localWorker, publish, settings } = services
  return os.tasks.router({
    list: os.tasks.list.handler(async ({ input }) => {
      const store = await connections.store(input.connectionId)
      const { rows, nextCursor } = await store.list(input.filter, input.limit, input.cursor)
      return { rows: rows.map((task) => maskedSummary(task, settings.masking.text)), nextCursor }
    }),
    get: os.tasks.get.handler(async ({ input }) => {
      const store = await connections.store(input.connectionId)
      const task = await store.get(input.taskId)
      if (!task) throw new AppError('NOT_FOUND', 'user', 'There is no such task (any more).')
      return viewOf(task, input.connectionId, services)
    }),
    log: os.tasks.log.handler(async ({ input }) => {
      const store = await connections.store(input.connectionId)
      const lines = await store.log(input.taskId, input.afterId)
      return lines.map((line) => maskedLine(line, settings.masking.text))
    }),
    act: os.tasks.act.handler(async ({ input }) => {
      const answer = await act(services, input)
      publish({ kind: 'tasksChanged', connectionId: input.connectionId, ids: [input.taskId] })
      localWorker.nudge(input.connectionId)
      return { ...answer }
    }),
    artifact: os.tasks.artifact.handler(async ({ input }) => {
      const store = await connections.store(input.connectionId)
      const { taskId, artifactId } = input
      const place = { artifactDir: services.artifactDir, hostname: services.hostName }
      const { bytes, name, contentType } = await readArtifact({ store, taskId, artifactId, ...place })
      return new File([new Uint8Array(bytes)], name, { type: contentType })
    }),
    submit: os.tasks.submit.handler(async ({ input }) => {
      const result = await submit(services, input)
      publish({ kind: 'tasksChanged', connectionId: input.connectionId, ids: [] })
      localWorker.nudge(input.connectionId)
      return result
    })
  })
}

type ActInput = Parameters<Parameters<Implementer['tasks']['act']['handler']>[0]>[0]['input']

async function act({ connections, operations, actor }: Services, input: ActInput) {
  const { connectionId, taskId, action, requestId, confirmation } = input
  const target = connections.target(connectionId)
  const store = await connections.store(connectionId)
  return operations.act({ ...target, store, taskId, action, requestId, confirmation, actor })
}

type SubmitInput = Parameters<Parameters<Implementer['tasks']['submit']['handler']>[0]>[0]['input']

async function submit({ connections, operations, localWorker, actor }: Services, input: SubmitInput) {
  const { connectionId, task, count, confirmation } = input
  const schema = localWorker.payloadSchema(connectionId, task.type)
  if (schema) requireFittingPayload(task.payload, schema)
  const target = connections.target(connectionId)
  const store = await connections.writableStore(connectionId)
  const answer = await operations.submit({
    ...{ ...target, confirmation, actor, count },
    type: task.type,
    requestId: input.requestId ?? randomUUID(),
    submit: () => submitCopies(store, task, count)
  })
  return { ...answer }
}

async function viewOf(task: TaskDetail, connectionId: string, services: Services): Promise<TaskView> {
  const { connections, artifactDir, hostName, log, settings } = services
  const { masking } = settings
  const block = writeBlock(connections.target(connectionId))
  const payload = masking.json(task.payload)
  const files = await artifactObstacles(task.artifacts, { artifactDir, hostname: hostName })
  return {
    ...withoutCheckpoint(task),
    errorMessage: task.errorMessage === null ? null : masking.text(task.errorMessage),
    payload: payload.text,
    maskedFields: payload.maskedFields,
    result: task.result === null ? null : masking.json(task.result).text,
    attempts: task.attempts.map(({ error, ...attempt }) => ({
      ...attempt,
      error: error && maskedError(error, masking.text)
    })),
    actions: block ? [] : allowedActions(task.state),
    actionsBlocked: block ? toProblem(block, log) : null,
    downloadable: [...files].flatMap(([id, obstacle]) => (obstacle === null ? [id] : [])),
    unavailable: Object.fromEntries([...files].flatMap(([id, obstacle]) => (obstacle === null ? [] : [[id, obstacle]])))
  }
}

/** Only the handler knows what is in it, so nothing of it can be masked. */
const withoutCheckpoint = ({ checkpoint: _checkpoint, ...shown }: TaskDetail): Omit<TaskDetail, 'checkpoint'> => shown

async function submitCopies(store: TaskStore, task: NewTask, count: number) {
  if (count > 1 && task.idempotencyKey !== null)
    throw new AppError(
      'INVALID_INPUT',
      'user',
      'A task with an idempotency key exists once: submit one, or leave the key out.'
    )
  if (Buffer.byteLength(task.payload) * count > submitBytes)
    throw new AppError('INVALID_INPUT', 'user', 'That is more than 64 MiB of payloads at once: submit fewer.')
  const counts = { created: 0, existing: 0 }
  let firstId = ''
  for (let left = count; left > 0; left -= taskLimits.submitBatch) {
    const copies = Array.from({ length: Math.min(left, taskLimits.submitBatch) }, () => task)
    for (const result of await store.submit(copies)) {
      if (result.status === 'conflict') throw keyConflict(result.taskId)
      firstId ||= result.taskId
      counts[result.status === 'created' ? 'created' : 'existing'] += 1
    }
  }
  return { ...counts, firstId }
}

const keyConflict = (taskId: string): AppError =>
  new AppError(
    'KEY_CONFLICT',
    'user',
    `Task ${taskId} has this idempotency key and another payload: choose another key.`,
    {
      details: { taskId }
    }
  )

/** Error texts and log lines are free text: what looks like a secret in them does not reach the page. */
const maskedSummary = (task: TaskSummary, mask: MaskText): TaskSummary => ({
  ...task,
  errorMessage: task.errorMessage === null ? null : mask(task.errorMessage)
})
const maskedError = (error: AttemptError, mask: MaskText): AttemptError => ({ ...error, message: mask(error.message) })
const maskedLine = (line: LogLine, mask: MaskText): LogLine => ({ ...line, message: mask(line.message) })
