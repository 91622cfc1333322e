import { join } from 'node:path'
import { localConnectionId } from '../contract/index.ts'
import { StopStack } from '../kernel/index.ts'
import { createAppLog, type AppLog } from './app-log.ts'
import type { AppOptions, TaskdeckApp } from './app-options.ts'
import { assemble } from './assemble.ts'
import { takeDataDirectory } from './data-directory.ts'
import { Notices } from './notices.ts'
import { toProblem } from './problem.ts'
import { createRouter, type Services } from './router/index.ts'
import { createPageServer } from './rpc-peer.ts'

const demoSlots = 6

/**
 * The whole product without a shell. Throws FILE_UNAVAILABLE when the data folder cannot be used or another app uses
 * it, INVALID_INPUT when the port for metrics is taken; whatever else is wrong (a damaged history, a database that is away) becomes a notice or a state.
 */
export async function createApp(options: AppOptions): Promise<TaskdeckApp> {
  const running = new StopStack()
  const directory = takeDataDirectory(options.dataDir, options.hostName)
  running.add(() => directory.release())
  const log = createAppLog({
    file: join(options.dataDir, 'logs/taskdeck.log'),
    clock: options.clock,
    onFailure: (error) => notices.add(error)
  })
  const notices = new Notices(log)
  try {
    const services = await assemble(options, { log, notices }, running)
    const router = createRouter(services)
    log.write('info', `Taskdeck ${options.version} started in the ${options.shell} shell`)
    if (options.demo) await startDemo(services)
    let stopped: Promise<void> | undefined
    const stop = (): Promise<void> => (stopped ??= stopApp(running, log))
    const { metricsUrl } = services.outside
    return { router, log, metricsUrl, servePage: createPageServer(router, log), stop }
  } catch (error) {
    await running.stop().catch((second: unknown) => log.bug(second))
    throw error
  }
}

async function stopApp(running: StopStack, log: AppLog): Promise<void> {
  log.write('info', 'Taskdeck stops')
  await running.stop()
}

/** Nothing of it may keep the app from starting. */
async function startDemo({ localWorker, log }: Services): Promise<void> {
  try {
    await localWorker.start({ connectionId: localConnectionId, slots: demoSlots, handlersDir: null })
    await localWorker.startSample(localConnectionId, 'steady')
  } catch (error) {
    log.write('warn', `The sample workload did not start: ${toProblem(error, log).message}`)
  }
}
