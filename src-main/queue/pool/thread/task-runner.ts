import { AsyncLocalStorage } from 'node:async_hooks'
import { z } from 'zod'
import { taskLimits, type AttemptError, type Clock } from '../../../kernel/index.ts'
import { attemptErrorOf, type ErrorClassifier } from '../error-classes.ts'
import { messageOf, textProperty } from '../error-text.ts'
import { HandlerError, isHandlerError, isPartialResult, type Handler, type InterruptReason } from '../handler.ts'
import { cellRing, cellStarted, cellWaiting, type HandedTask, type ThreadOutcome } from '../protocol.ts'
import { jsonText, openContext, type TaskContext } from './handler-context.ts'
import { handlerStack } from './handler-stack.ts'
import type { WorkerLink } from './worker-link.ts'

interface Execution {
  readonly task: HandedTask
  readonly opened: TaskContext
  readonly startedAt: number
  ended: boolean
}

interface RunnerOptions {
  readonly link: WorkerLink
  readonly cells: Int32Array
  readonly artifactDir: string
  readonly clock: Clock
  readonly errors: ErrorClassifier
  readonly handlerOf: (type: string) => Promise<Handler>
}

/** Runs what the worker hands over, strictly one after the other. */
export class TaskRunner {
  private readonly options: RunnerOptions
  private readonly queue: HandedTask[] = []
  private readonly origin = new AsyncLocalStorage<Execution>()
  private current: Execution | undefined
  private running = false

  constructor(options: RunnerOptions) {
    this.options = options
  }

  enqueue(tasks: readonly HandedTask[]): void {
    this.queue.push(...tasks)
    if (!this.running) void this.drain()
  }

  interrupt(handover: number, reason: InterruptReason): void {
    if (this.current?.task.handover === handover) this.current.opened.interrupt(reason)
  }

  /**
   * An error that no handler's promise carries. Async context tells which task it came from, so that a late throw
   * never fails the task that happens to run now.
   */
  onStrayError(thrown: unknown): void {
    const origin = this.origin.getStore() ?? this.current
    if (origin && origin === this.current && !origin.ended) {
      this.end(origin, failure(attemptErrorOf('HANDLER_CRASHED', messageOf(thrown), 'retryable')))
    }
    const from = origin ? `task ${origin.task.taskId} (${origin.task.type})` : 'a handler file'
    this.options.link.tell({ kind: 'tainted', message: `Uncaught error of ${from}: ${messageOf(thrown)}` })
  }

  private async drain(): Promise<void> {
    this.running = true
    for (let task = this.queue.shift(); task; task = this.queue.shift()) {
      if (this.take(task)) await this.execute(task)
    }
    this.running = false
  }

  /** False when the worker took the task back first. */
  private take(task: HandedTask): boolean {
    const base = task.handover * 4
    const cell = task.handover % cellRing
    const before = Atomics.compareExchange(this.options.cells, cell, base + cellWaiting, base + cellStarted)
    return before === base + cellWaiting
  }

  private async execute(task: HandedTask): Promise<void> {
    const { clock } = this.options
    const opened = openContext({ ...this.options, task })
    const execution: Execution = { task, opened, startedAt: clock.monotonic(), ended: false }
    this.current = execution
    const outcome = await this.origin.run(execution, () => this.outcomeOf(execution))
    this.end(execution, outcome)
    this.current = undefined
  }

  private async outcomeOf({ task, opened }: Execution): Promise<ThreadOutcome> {
    try {
      const handler = await this.options.handlerOf(task.type)
      // Its timeout counts from here: loading a file is no work of the handler.
      if (task.watched) this.options.link.tell({ kind: 'started', handover: task.handover })
      const payload = parsePayload(handler, task.payload)
      const returned = await handler.execute(opened.context, payload)
      const isPartial = isPartialResult(returned)
      const value: unknown = isPartial ? returned.result : returned
      const result = value === undefined ? null : jsonText(value, taskLimits.resultBytes, 'RESULT')
      return { status: 'succeeded', partial: isPartial, result }
    } catch (thrown) {
      const error = this.options.errors.classify(thrown)
      const interrupted = opened.interrupted() && isAbort(thrown)
      if (!interrupted && !isHandlerError(thrown)) logStack(opened, thrown)
      return { status: 'failed', error, interrupted }
    }
  }

  private end(execution: Execution, outcome: ThreadOutcome): void {
    if (execution.ended) return
    execution.ended = true
    this.options.link.tell({
      kind: 'ended',
      handover: execution.task.handover,
      outcome,
      durationMs: this.options.clock.monotonic() - execution.startedAt,
      progress: execution.opened.latestProgress()
    })
  }
}

const failure = (error: AttemptError): ThreadOutcome => ({ status: 'failed', error, interrupted: false })

/** Also when the handler put the abort into an error of its own. */
const isAbort = (thrown: unknown): boolean =>
  textProperty(thrown, 'name') === 'AbortError' ||
  (thrown instanceof Error && textProperty(thrown.cause, 'name') === 'AbortError')

/** Counted as an attempt, but never tried again (FAULTS 47). */
function parsePayload(handler: Handler, text: string): unknown {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    // The parser's own message quotes the payload, which may hold secrets.
    const position = /position \d+/.exec(messageOf(error))?.[0] ?? 'the end'
    throw new HandlerError('final', 'INVALID_PAYLOAD', `The payload is no JSON: it breaks off at ${position}.`)
  }
  const parsed = parsedBy(handler, value)
  if (parsed.success) return parsed.data
  throw new HandlerError('final', 'INVALID_PAYLOAD', `The payload does not fit: ${z.prettifyError(parsed.error)}`)
}

function parsedBy(handler: Handler, value: unknown): ReturnType<Handler['payload']['safeParse']> {
  try {
    return handler.payload.safeParse(value)
  } catch (error) {
    // A refinement that waits, or one that throws: no later attempt is better off.
    throw new HandlerError(
      'final',
      'INVALID_PAYLOAD',
      `The handler's schema cannot check the payload: ${messageOf(error)}`
    )
  }
}

function logStack(opened: TaskContext, thrown: unknown): void {
  const stack = textProperty(thrown, 'stack')
  if (stack !== undefined) opened.context.log('error', handlerStack(stack))
}
