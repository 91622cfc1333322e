import { userInfo } from 'node:os'
import { join } from 'node:path'
import { localConnectionId, type AppEvent, type AppInfo, type ConnectionView, type Problem } from '../contract/index.ts'
import { openAudit } from '../audit/index.ts'
import { ConnectionStore, Secrets } from '../connections/index.ts'
import { openHistory } from '../history/index.ts'
import { AppError, StopStack, withDeadline, type QueueReading } from '../kernel/index.ts'
import type { Tick } from '../monitoring/index.ts'
import { createOperations } from '../operations/index.ts'
import type { TaskStore } from '../queue/task-store.ts'
import { createAppLog, type AppLog } from './app-log.ts'
import type { AppOptions, TaskdeckApp } from './app-options.ts'
import { takeDataDirectory } from './data-directory.ts'
import { EventHub } from './event-hub.ts'
import { ConnectionChanges } from './links/connection-changes.ts'
import { Connections } from './links/connections.ts'
import { Observations } from './observations.ts'
import { OpenIntents } from './open-intents.ts'
import { toProblem } from './problem.ts'
import { createRouter, type Services } from './router/index.ts'
import { createPageServer } from './rpc-peer.ts'
import { makeSampleImport } from './sample-import.ts'
import { SettingsFile } from './settings-file.ts'
import { StandInRecovery } from './stand-in-recovery.ts'
import { StandInSchedules } from './stand-in-schedules.ts'
import { LocalWorker } from './worker/local-worker.ts'

/** Running tasks get this long when the app ends, then they are handed back. */
const workerGraceMs = 3_500
/**
 * For leaving all databases when the app ends. One that never answers must not keep it: leases end, and servers close silent sessions, by
 * themselves.
 */
const leaveDeadlineMs = 4_500
const demoSlots = 6

/**
 * The whole product without a shell. Throws FILE_UNAVAILABLE when the data folder cannot be used or another app uses
 * it; whatever else is wrong (a damaged history, a database that is away) becomes a notice or a state.
 */
export async function createApp(options: AppOptions): Promise<TaskdeckApp> {
  const running = new StopStack()
  const directory = takeDataDirectory(options.dataDir, options.hostName)
  running.add(() => directory.release())
  const log = createAppLog({ file: join(options.dataDir, 'logs/taskdeck.log'), clock: options.clock })
  try {
    const services = await assemble(options, log, running)
    const router = createRouter(services)
    log.write('info', `Taskdeck ${options.version} started in the ${options.shell} shell`)
    if (options.demo) await startDemo(services)
    let stopped: Promise<void> | undefined
    return { router, log, servePage: createPageServer(router, log), stop: () => (stopped ??= stopApp(running, log)) }
  } catch (error) {
    await running.stop().catch((second: unknown) => log.bug(second))
    throw error
  }
}

async function stopApp(running: StopStack, log: AppLog): Promise<void> {
  log.write('info', 'Taskdeck stops')
  await running.stop()
}

async function assemble(options: AppOptions, log: AppLog, running: StopStack): Promise<Services> {
  const { dataDir, clock } = options
  const notices = new Notices(log)
  const files = await openFiles(options, notices, running)
  const observations = new Observations(files.history, clock)
  const recovery = new StandInRecovery(clock)
  const schedules = new StandInSchedules(clock)
  const operations = createOperations({ audit: files.audit, clock, onUnrecorded: (error) => notices.add(error) })
  const openIntents = new OpenIntents(operations, clock)

  /** What happens beside a tick; none of it may hold up the next one. */
  async function afterTick(connectionId: string, reading: QueueReading, store: TaskStore): Promise<void> {
    const moved = await recovery.run(connectionId, reading, store)
    if (moved.length > 0) {
      log.write('info', `connection ${connectionId}: recovered ${moved.length} tasks, as no worker is alive to do it`)
      hub.publish({ kind: 'tasksChanged', connectionId, ids: moved.slice(0, 100) })
    }
    const submitted = await schedules.run(connectionId, reading, store)
    if (submitted > 0) log.write('info', `connection ${connectionId}: schedules submitted ${submitted} tasks`)
    await openIntents.settle(connectionId, store)
  }

  const places = { clock, migrationsDir: options.migrationsDir }
  const localFile = localFileIn(dataDir)
  const connections: Connections = new Connections({
    ...{ clock, places, localFile, log },
    stored: files.stored,
    secrets: files.secrets,
    onChange: () => hub.publish(connectionsEvent()),
    onTick(tick: Tick, { store, accessMode }) {
      hub.publish({ kind: 'tick', tick: observations.take(tick) })
      if (accessMode === 'read-only') return
      afterTick(tick.connectionId, tick.reading, store).catch((error: unknown) => toProblem(error, log))
    },
    lastKnownAt: (id) => observations.lastKnownAt(id),
    onClosing: (id) => localWorker.leave(id),
    onMoved: (id) => observations.forget(id)
  })
  const localWorker: LocalWorker = new LocalWorker({
    ...{ clock, places, localFile, log },
    artifactDir: join(dataDir, 'artifacts'),
    version: options.version,
    graceMs: workerGraceMs,
    publish: (event) => hub.publish(event),
    login(connectionId) {
      connections.requireWritable(connectionId)
      return connections.login(connectionId)
    },
    waiting: (connectionId) => waitingIn(observations.reading(connectionId))
  })
  const connectionsEvent = (): AppEvent & { connections: ConnectionView[] } => ({
    kind: 'connections',
    connections: connections.views()
  })
  const hub: EventHub = new EventHub(clock, () => [
    connectionsEvent(),
    { kind: 'localWorker', localWorker: localWorker.view() },
    ...observations.ticks().map((tick): AppEvent => ({ kind: 'tick', tick }))
  ])
  notices.publishTo(hub)
  running.add(() => hub.close())
  running.add(async () => {
    const late = (): AppError =>
      new AppError('CONNECTION_LOST', 'operational', 'A database did not answer while Taskdeck left it.')
    const left = Promise.all([connections.stop(), localWorker.stop()])
    await withDeadline(clock, leaveDeadlineMs, left, late).catch((error: unknown) => {
      log.write('warn', toProblem(error, log).message)
    })
  })
  const changes = new ConnectionChanges({
    ...{ clock, places, connections, log },
    stored: files.stored,
    secrets: files.secrets
  })
  await connections.start()

  const sampleImportFile = await makeSampleImport(options, log)
  const { settings } = files
  return {
    ...{ clock, log, hub, connections, changes, observations, operations, localWorker, settings, places },
    secrets: files.secrets,
    artifactDir: join(dataDir, 'artifacts'),
    hostName: options.hostName,
    actor: userInfo().username,
    validateOutputs: options.validateOutputs ?? false,
    publish: (event) => hub.publish(event),
    info: () => infoOf(options, settings, { notices: notices.all(), sampleImportFile })
  }
}

async function openFiles(options: AppOptions, notices: Notices, running: StopStack) {
  const { dataDir, clock } = options
  const migrationsDir = join(options.migrationsDir, 'cache')
  const onNotice = (notice: AppError): void => notices.add(notice)
  const { history, notice: historyNotice } = openHistory({
    ...{ clock, migrationsDir, onNotice },
    file: join(dataDir, 'history.sqlite')
  })
  running.add(() => history.close())
  const { audit, notice: auditNotice } = openAudit({ clock, migrationsDir, file: join(dataDir, 'audit.sqlite') })
  running.add(() => audit.close())
  const stored = await ConnectionStore.open(dataDir, clock)
  const secrets = await Secrets.open(dataDir, { vault: options.vault, clock })
  const settings = await SettingsFile.open(join(dataDir, 'settings.json'), clock)
  const problems = [historyNotice, auditNotice, stored.problem, secrets.problem, settings.problem]
  for (const problem of problems) if (problem) notices.add(problem)
  return { history, audit, stored, secrets, settings }
}

/** What the user should read although nobody asked; kept for pages that open later. */
class Notices {
  private readonly log: AppLog
  private hub: EventHub | undefined
  private readonly problems: Problem[] = []

  constructor(log: AppLog) {
    this.log = log
  }

  /** The first notices come before there is a hub, and before any page. */
  publishTo(hub: EventHub): void {
    this.hub = hub
  }

  all(): Problem[] {
    return this.problems
  }

  add(error: AppError): void {
    const problem = toProblem(error, this.log)
    this.log.write('warn', `${problem.code}: ${problem.message}`)
    if (this.problems.length < 20) this.problems.push(problem)
    this.hub?.publish({ kind: 'notice', problem })
  }
}

const localFileIn = (dataDir: string): string => join(dataDir, 'queue.sqlite')

const noVault: AppInfo['vault'] = { persistent: false, name: '', reason: 'browser' }

function infoOf(
  { vault, version, shell, dataDir }: AppOptions,
  settings: SettingsFile,
  { notices, sampleImportFile }: { notices: Problem[]; sampleImportFile: string | null }
): AppInfo {
  return {
    ...{ version, shell, notices },
    vault: vault ? { persistent: vault.persistent, name: vault.name, reason: vault.reason } : noVault,
    settings: settings.get(),
    localQueueFile: localFileIn(dataDir),
    sampleImportFile
  }
}

function waitingIn(reading: QueueReading | undefined): number {
  const waiting = reading?.depth.filter(({ state }) => state === 'QUEUED' || state === 'RETRY_WAIT') ?? []
  return waiting.reduce((total, { count }) => total + count, 0)
}

/** Nothing of it may keep the app from starting. */
async function startDemo({ localWorker, log }: Services): Promise<void> {
  try {
    await localWorker.start({ connectionId: localConnectionId, slots: demoSlots, handlersDir: null })
    await localWorker.startSample('steady')
  } catch (error) {
    log.write('warn', `The sample workload did not start: ${toProblem(error, log).message}`)
  }
}
