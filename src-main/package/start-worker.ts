import { readFileSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { AppError, requireSensitiveKeys, StopStack, systemClock, textMask } from '../kernel/index.ts'
import type { Meter } from '../queue/metrics/index.ts'
import { createWorker, guardedListener, newWorkerId, type Worker } from '../queue/pool/index.ts'
import { requireKnown } from './known-options.ts'
import { defaultArtifactDir, letGo, openForWorker, packageFile, type Where } from './open-queue.ts'
import type { QueueWorker, StartWorkerOptions } from './queue.ts'

const limits = {
  concurrency: [1, 1_000],
  leaseMs: [200, 3_600_000],
  pollMs: [1, 600_000],
  recoverMs: [100, 3_600_000],
  graceMs: [0, 3_600_000],
  artifactDays: [1, 3_650],
  metricsPort: [0, 65_535]
} as const satisfies Partial<Record<keyof StartWorkerOptions, readonly [number, number]>>

const names = [
  'handlers',
  'builtInHandlers',
  'workerId',
  'artifactDir',
  'sensitiveKeys',
  'hooks',
  'onLog',
  ...(Object.keys(limits) as (keyof typeof limits)[])
] as const satisfies readonly (keyof StartWorkerOptions)[]

/** See `Queue.startWorker`. */
export async function startWorker(where: Where, meter: Meter, options: StartWorkerOptions): Promise<QueueWorker> {
  const dir = checkOptions(options)
  const maskText = textMask(requireSensitiveKeys(options.sensitiveKeys ?? [], 'sensitiveKeys'))
  const opened = new StopStack()
  try {
    const queue = await openForWorker(where)
    opened.add(() => letGo(queue))
    const worker = createWorker({
      store: meter.counted(queue.store),
      heartbeatStore: meter.counted(queue.heartbeatStore),
      rowSink: queue.rowSink,
      clock: systemClock,
      workerId: options.workerId ?? newWorkerId(),
      version: packageVersion(),
      slots: options.concurrency ?? 4,
      handlers: { builtIn: options.builtInHandlers ?? false, dir },
      artifactDir: resolve(options.artifactDir ?? defaultArtifactDir(where)),
      artifactDays: options.artifactDays,
      leaseMs: options.leaseMs,
      pollMs: options.pollMs,
      recoverMs: options.recoverMs,
      graceMs: options.graceMs,
      maskText,
      hooks: options.hooks,
      onLog: options.onLog
    })
    opened.add(() => worker.stop())
    await worker.start()
    requireHandlers(worker)
    return running(worker, opened, await serve(meter, worker, opened, options))
  } catch (error) {
    await opened.stop().catch(() => undefined)
    throw error
  }
}

function running(worker: Worker, opened: StopStack, metricsUrl: string | null): QueueWorker {
  let stopping: Promise<void> | undefined
  const stop = (): Promise<void> => (stopping ??= opened.stop())
  // Another process may ask it to stop: then its connections are of no use either.
  const finished = worker.finished.then(stop)
  finished.catch(() => undefined) // `stop` tells
  return {
    id: worker.status().workerId,
    metricsUrl,
    status: () => worker.status(),
    finished,
    stop
  }
}

async function serve(
  meter: Meter,
  worker: Worker,
  opened: StopStack,
  { metricsPort, onLog }: StartWorkerOptions
): Promise<string | null> {
  if (metricsPort === undefined) return null
  const log = guardedListener(onLog ?? (() => undefined))
  const onProblem = (message: string): void => log({ at: systemClock.now(), level: 'error', message, taskId: null })
  const server = await meter.serve({ worker, port: metricsPort, onProblem })
  opened.add(() => server.stop())
  return server.url
}

/** Such a worker would wait for ever, and a service that starts it expects to be told. */
function requireHandlers(worker: Worker): void {
  const { handlers, problems } = worker.status().handlers
  if (handlers.length > 0) return
  const [first] = problems
  const message = first
    ? `No handler could be loaded: ${first.file}: ${first.error.message}`
    : 'The worker has no handler: give it a folder of them, or the built-in ones.'
  throw new AppError('HANDLER_LOAD_FAILED', 'user', message, { cause: first?.error })
}

/** Throws INVALID_INPUT. Returns the folder of the handlers. */
function checkOptions(options: StartWorkerOptions): string | null {
  requireKnown(options, names)
  for (const [name, [least, most]] of Object.entries(limits)) {
    const value = options[name as keyof typeof limits]
    if (value !== undefined && !(Number.isInteger(value) && value >= least && value <= most))
      throw invalid(`${name} must be a whole number from ${least} to ${most}.`)
  }
  const { workerId, handlers } = options
  if (workerId !== undefined && !/^[A-Za-z0-9._-]{1,100}$/.test(workerId))
    throw invalid('workerId may have 1 to 100 letters, digits and . _ -')
  if (handlers === undefined) return null
  if (handlers instanceof URL && handlers.protocol !== 'file:')
    throw invalid(`${handlers.href} is no folder of this machine: give a path or a file: URL.`)
  const dir = resolve(handlers instanceof URL ? fileURLToPath(handlers) : handlers)
  if (!statSync(dir, { throwIfNoEntry: false })?.isDirectory())
    throw invalid(`${dir} is not a folder: give the folder with your handler files.`)
  return dir
}

const packageVersion = (): string => {
  const { version } = JSON.parse(readFileSync(packageFile, 'utf8')) as { version: string }
  return version
}

const invalid = (message: string): AppError => new AppError('INVALID_INPUT', 'user', message)
