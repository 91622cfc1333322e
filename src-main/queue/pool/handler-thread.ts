import { parentPort, workerData } from 'node:worker_threads'
import { AppError, systemClock } from '../../kernel/index.ts'
import { builtInHandler, builtInHandlers } from './built-in/index.ts'
import { ErrorClassifier } from './error-classes.ts'
import { FinalError, ResourceError, type Handler } from './handler.ts'
import { messageOf } from './error-text.ts'
import { threadConfig, toThread } from './protocol.ts'
import { describeAll } from './thread/describe.ts'
import { openHandlerFiles } from './thread/handler-files.ts'
import { TaskRunner } from './thread/task-runner.ts'
import { WorkerLink } from './thread/worker-link.ts'

/** Entry of a handler thread: runs the tasks that the worker hands over, or reads handler files for their metadata. */
function start(): void {
  if (!parentPort) throw new AppError('BUG', 'bug', 'handler-thread is started by the worker pool only')
  const config = threadConfig.parse(workerData)
  const link = new WorkerLink(parentPort)
  const load = openHandlerFiles(config.cacheDir)
  if (config.mode === 'describe') {
    void describeAll({ link, files: config.files, load, builtIn: config.builtIn ? builtInHandlers : [] })
    return
  }
  const runner = new TaskRunner({
    link,
    cells: new Int32Array(config.cells),
    artifactDir: config.artifactDir,
    clock: systemClock,
    errors: new ErrorClassifier(config.errorRules),
    handlerOf: openHandlers(config.builtIn, config.fileOfType, watched(link, load))
  })
  process.on('uncaughtException', (error) => runner.onStrayError(error))
  process.on('unhandledRejection', (reason) => runner.onStrayError(reason))
  parentPort.on('message', (raw: unknown) => {
    const message = toThread.parse(raw)
    if (message.kind === 'run') runner.enqueue(message.tasks)
    else if (message.kind === 'interrupt') runner.interrupt(message.handover, message.reason)
    else if (message.kind === 'reply') link.answer(message.request, message.value)
    else link.refuse(message.request, message.code, message.message)
  })
  link.tell({ kind: 'ready' })
}

/** The worker ends a thread whose file does not finish loading. */
function watched(link: WorkerLink, load: (file: string) => Promise<Handler[]>): (file: string) => Promise<Handler[]> {
  return async (file) => {
    link.tell({ kind: 'loading', file })
    try {
      return await load(file)
    } finally {
      link.tell({ kind: 'loaded', file })
    }
  }
}

/** A user's file is loaded with the first task of its type. */
function openHandlers(
  builtIn: boolean,
  fileOfType: Readonly<Record<string, string>>,
  load: (file: string) => Promise<Handler[]>
): (type: string) => Promise<Handler> {
  const known = new Map<string, Promise<Handler>>()
  const find = async (type: string): Promise<Handler> => {
    const own = builtIn ? builtInHandler(type) : undefined
    if (own) return own
    const file = Object.hasOwn(fileOfType, type) ? fileOfType[type] : undefined
    if (file === undefined) throw new FinalError('UNKNOWN_TYPE', `This worker has no handler for "${type}".`)
    const handlers = await load(file).catch((error: unknown) => {
      throw new ResourceError('HANDLER_LOAD_FAILED', `${file} does not load: ${messageOf(error)}`, { cause: error })
    })
    const handler = handlers.find((candidate) => candidate.type === type)
    if (!handler) throw new ResourceError('HANDLER_LOAD_FAILED', `${file} no longer exports "${type}".`)
    return handler
  }
  return (type) => {
    const found = known.get(type) ?? find(type)
    known.set(type, found)
    found.catch(() => known.delete(type)) // the next task tries again
    return found
  }
}

start()
